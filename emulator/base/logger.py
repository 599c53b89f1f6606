"""The one logger of a broker: `logging.getLogger("odradek")`."""

import logging

log = logging.getLogger("odradek")
