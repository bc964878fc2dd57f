"""What people say of a result: samples to be judged, and judgements against what was found."""
