from courtroom.access import found_by

found_by(lambda: None)  # who tests is alone on this machine, until a test opens a courthouse in which people sign in
