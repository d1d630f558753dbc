"""How reads and writes of texels are written in the intermediate representation.

OpenCL's image functions and PTX's texture and surface instructions share it: both find what they
must know of an image in its descriptor (`simcore.launch.image_descriptors`). Imports `simcore`.
"""
