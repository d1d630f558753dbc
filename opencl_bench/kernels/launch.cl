/* One work-item that counts its launches. */
kernel void count_launch(global uint *launches) { launches[0]++; }
