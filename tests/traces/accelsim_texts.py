"""Text of small Accel-Sim kernel traces, written by hand."""

from __future__ import annotations

SHARED_WINDOW, LOCAL_WINDOW = 0x7EFEB0000000, 0x7EFEB2000000
HEADER = f"""-kernel name = vecadd
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (40,1,1)
-shmem = 256
-nregs = 12
-binary version = 70
-cuda stream id = 0
-shmem base_addr = {SHARED_WINDOW:#018x}
-local mem base_addr = {LOCAL_WINDOW:#018x}
-nvbit version = 1.5
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [addresses]

"""
FIRST = """
#BEGIN_TB

thread block = 0,0,0

warp = 0
insts = 6
0000 ffffffff 1 R1 IMAD.MOV.U32 2 R255 R255 0 
0010 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x7f0000000000 4 
0020 ffffffff 0 STS 2 R1 R2 4 1 0x4 8 
0030 ffffffff 0 BAR.SYNC 1 R255 0 
0040 0000000f 1 R2 FFMA 3 R2 R2 R2 0 
0060 ffffffff 0 EXIT 0 0 

warp = 1
insts = 6
0000 000000ff 1 R1 IMAD.MOV.U32 2 R255 R255 0 
0010 000000ff 1 R2 LDG.E.SYS 1 R4 4 1 0x7f0000000080 4 
0020 000000ff 0 STS 2 R1 R2 4 1 0x80 4 
0030 000000ff 0 BAR.SYNC 1 R255 0 
0050 000000ff 0 STG.E.SYS 2 R4 R2 4 1 0x7f0000001080 4 
0060 000000ff 0 EXIT 0 0 

#END_TB
"""  # noqa: W291
SECOND = """
#BEGIN_TB

thread block = 1,0,0

warp = 1
insts = 0

warp = 0
insts = 1
0060 ffffffff 0 EXIT 0 0 

#END_TB
"""  # noqa: W291
