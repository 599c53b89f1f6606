"""Advice: what clients did that is likely a mistake, in sentences, each once.

rules.py has the rules, one for each mistake: functions of what happened and of what is there at the
end. A rule is silent where it is not sure.
"""
