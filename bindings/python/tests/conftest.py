"""Profiles of Hypothesis: some seconds without chance by default, minutes with ``--hypothesis-profile=thorough``."""

try:
    from hypothesis import HealthCheck, settings
except ImportError:
    pass  # test_properties.py is skipped
else:
    always = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
    settings.register_profile("quick", max_examples=50, stateful_step_count=20, derandomize=True, **always)
    settings.register_profile("thorough", max_examples=2000, stateful_step_count=50, **always)
    settings.load_profile("quick")
