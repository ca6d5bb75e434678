"""Engine objects in, rows and documents out; pure, so that commands and screens say the same."""
