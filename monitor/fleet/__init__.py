"""Many runs at once: found below a folder, told apart, joined where several logs are of one, and added up."""
