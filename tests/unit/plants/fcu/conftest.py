from hypothesis import settings

# the first call of a compiled function includes its compilation
settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
