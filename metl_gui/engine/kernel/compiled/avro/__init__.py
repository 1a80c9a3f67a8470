"""Values framed in Avro, for the compiled kernel.

``programs`` read what writer schemas wrote, ``text`` is machine code that follows them, ``records`` drives it over a
batch. May import ``engine.kernel`` and the modules beside this package that machine code is made of.
"""
