"""Waiting until both brokers say the same of what a request may have changed.

A real broker answers a change once its controller has it, and follows the controller a moment
later. Neither the waiting nor what was asked meanwhile is part of the comparison: what still
differs when the wait ends is seen by the steps that follow.
"""
