"""Events of requests and connections (the journal's other half is in base/), and rules on
them."""
