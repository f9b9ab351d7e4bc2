from hypothesis import settings

# a busy machine must not fail a test
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
