"""The authorizer: access rules (ACLs), and whether they let somebody do something."""
