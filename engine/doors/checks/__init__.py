"""The single checks of doctor, by what they look at; each answers with rows and changes nothing."""
