; ModuleID = 'roots.hip'
source_filename = "roots.hip"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_log1p_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fadd double %0, 1.000000e+00
  %3 = fadd double %2, -1.000000e+00
  %4 = fsub double %0, %3
  %5 = tail call double @__ocml_log_f64(double noundef %2) #4
  %6 = fdiv double %4, %2
  %7 = fadd double %6, %5
  %8 = fcmp oeq double %2, 1.000000e+00
  %9 = tail call double @llvm.fabs.f64(double %0)
  %10 = fcmp oeq double %9, 0x7FF0000000000000
  %11 = or i1 %8, %10
  %12 = fcmp oeq double %0, -1.000000e+00
  %13 = select i1 %12, double 0xFFF0000000000000, double %7
  %14 = select i1 %11, double %0, double %13
  ret double %14
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_log_f64(double noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i1 @llvm.is.fpclass.f64(double, i32 immarg) #2

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_exp10_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fmul double %0, 0x400A934F0979A371
  %3 = tail call double @llvm.rint.f64(double %2)
  %4 = tail call double @llvm.fma.f64(double %3, double 0xBFD3441350800000, double %0)
  %5 = tail call double @llvm.fma.f64(double %3, double 0xBDDF79FEF311F12B, double %4)
  %6 = fmul double %5, 0x40026BB1BBB55516
  %7 = tail call double @__ocml_exp_f64(double noundef %6) #4
  %8 = fcmp ogt double %0, 4.000000e+02
  br i1 %8, label %16, label %9

9:                                                ; preds = %1
  %10 = tail call double @llvm.minnum.f64(double %3, double 3.000000e+03)
  %11 = tail call double @llvm.maxnum.f64(double %10, double -3.000000e+03)
  %12 = fptosi double %11 to i32
  %13 = fcmp olt double %0, -4.000000e+02
  %14 = tail call double @llvm.ldexp.f64.i32(double %7, i32 %12)
  %15 = select i1 %13, double 0.000000e+00, double %14
  br label %16

16:                                               ; preds = %1, %9
  %17 = phi double [ %15, %9 ], [ 0x7FF0000000000000, %1 ]
  ret double %17
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.rint.f64(double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_exp_f64(double noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.minnum.f64(double, double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.maxnum.f64(double, double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.ldexp.f64.i32(double, i32) #2

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_cbrt_f64(double noundef %0) local_unnamed_addr #3 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %2)
  %4 = icmp sgt i32 %3, -1
  br i1 %4, label %5, label %7

5:                                                ; preds = %1
  %6 = udiv i32 %3, 3
  br label %11

7:                                                ; preds = %1
  %8 = sub nsw i32 2, %3
  %9 = udiv i32 %8, 3
  %10 = sub nsw i32 0, %9
  br label %11

11:                                               ; preds = %7, %5
  %12 = phi i32 [ %6, %5 ], [ %10, %7 ]
  %13 = tail call double @llvm.amdgcn.frexp.mant.f64(double %2)
  %14 = mul nsw i32 %12, -3
  %15 = add i32 %14, %3
  %16 = tail call double @llvm.ldexp.f64.i32(double %13, i32 %15)
  %17 = fptrunc double %16 to float
  %18 = tail call float @llvm.amdgcn.log.f32(float %17)
  %19 = fmul float %18, 0x3FD5555560000000
  %20 = tail call float @llvm.amdgcn.exp2.f32(float %19)
  %21 = fpext float %20 to double
  %22 = fmul double %21, %21
  %23 = fmul double %22, %21
  %24 = fmul double %16, 2.000000e+00
  %25 = fadd double %24, %23
  %26 = fmul double %25, %21
  %27 = fmul double %23, 2.000000e+00
  %28 = fadd double %16, %27
  %29 = fdiv double %26, %28
  %30 = fmul double %29, %29
  %31 = fneg double %30
  %32 = tail call double @llvm.fma.f64(double %29, double %29, double %31)
  %33 = tail call double @llvm.fma.f64(double %31, double %29, double %16)
  %34 = fmul double %29, %32
  %35 = fsub double %33, %34
  %36 = fmul double %30, 3.000000e+00
  %37 = fdiv double %35, %36
  %38 = fadd double %29, %37
  %39 = tail call i1 @llvm.is.fpclass.f64(double %0, i32 615)
  %40 = tail call double @llvm.ldexp.f64.i32(double %38, i32 %12)
  %41 = tail call double @llvm.copysign.f64(double %40, double %0)
  %42 = select i1 %39, double %0, double %41
  ret double %42
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.amdgcn.frexp.mant.f64(double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.frexp.exp.i32.f64(double) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.log.f32(float) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.exp2.f32(float) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.copysign.f64(double, double) #2

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_hypot_f64(double noundef %0, double noundef %1) local_unnamed_addr #3 {
  %3 = tail call double @llvm.fabs.f64(double %0)
  %4 = tail call double @llvm.fabs.f64(double %1)
  %5 = fcmp oeq double %3, 0x7FF0000000000000
  %6 = fcmp oeq double %4, 0x7FF0000000000000
  %7 = or i1 %5, %6
  br i1 %7, label %28, label %8

8:                                                ; preds = %2
  %9 = fcmp uno double %0, %1
  br i1 %9, label %10, label %12

10:                                               ; preds = %8
  %11 = fadd double %0, %1
  br label %28

12:                                               ; preds = %8
  %13 = tail call double @llvm.maxnum.f64(double %3, double %4)
  %14 = fcmp oeq double %13, 0.000000e+00
  br i1 %14, label %28, label %15

15:                                               ; preds = %12
  %16 = tail call double @llvm.minnum.f64(double %3, double %4)
  %17 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %13)
  %18 = sub nsw i32 0, %17
  %19 = tail call double @llvm.ldexp.f64.i32(double %13, i32 %18)
  %20 = tail call double @llvm.ldexp.f64.i32(double %16, i32 %18)
  %21 = fmul double %19, %19
  %22 = fneg double %21
  %23 = tail call double @llvm.fma.f64(double %19, double %19, double %22)
  %24 = tail call double @llvm.fma.f64(double %20, double %20, double %23)
  %25 = fadd double %21, %24
  %26 = tail call double @llvm.sqrt.f64(double %25)
  %27 = tail call double @llvm.ldexp.f64.i32(double %26, i32 %17)
  br label %28

28:                                               ; preds = %15, %12, %2, %10
  %29 = phi double [ %11, %10 ], [ 0x7FF0000000000000, %2 ], [ %27, %15 ], [ 0.000000e+00, %12 ]
  ret double %29
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #2

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_remainder_f64(double noundef %0, double noundef %1) local_unnamed_addr #3 {
  %3 = tail call double @llvm.fabs.f64(double %0)
  %4 = tail call double @llvm.fabs.f64(double %1)
  %5 = fcmp uno double %0, %1
  br i1 %5, label %43, label %6

6:                                                ; preds = %2
  %7 = fcmp oeq double %3, 0x7FF0000000000000
  %8 = fcmp oeq double %1, 0.000000e+00
  %9 = or i1 %7, %8
  br i1 %9, label %43, label %10

10:                                               ; preds = %6
  %11 = fcmp oeq double %4, 0x7FF0000000000000
  br i1 %11, label %43, label %12

12:                                               ; preds = %10
  %13 = fcmp olt double %4, 8.000000e+307
  br i1 %13, label %14, label %17

14:                                               ; preds = %12
  %15 = fmul double %4, 2.000000e+00
  %16 = frem double %3, %15
  br label %17

17:                                               ; preds = %14, %12
  %18 = phi double [ %16, %14 ], [ %3, %12 ]
  %19 = fcmp olt double %4, 4.500000e-308
  br i1 %19, label %20, label %29

20:                                               ; preds = %17
  %21 = fmul double %18, 2.000000e+00
  %22 = fcmp ogt double %21, %4
  br i1 %22, label %23, label %37

23:                                               ; preds = %20
  %24 = fsub double %18, %4
  %25 = fmul double %24, 2.000000e+00
  %26 = fcmp ult double %25, %4
  br i1 %26, label %37, label %27

27:                                               ; preds = %23
  %28 = fsub double %24, %4
  br label %37

29:                                               ; preds = %17
  %30 = fmul double %4, 5.000000e-01
  %31 = fcmp ogt double %18, %30
  br i1 %31, label %32, label %37

32:                                               ; preds = %29
  %33 = fsub double %18, %4
  %34 = fcmp ult double %33, %30
  br i1 %34, label %37, label %35

35:                                               ; preds = %32
  %36 = fsub double %33, %4
  br label %37

37:                                               ; preds = %29, %35, %32, %20, %27, %23
  %38 = phi double [ %28, %27 ], [ %24, %23 ], [ %18, %20 ], [ %36, %35 ], [ %33, %32 ], [ %18, %29 ]
  %39 = bitcast double %0 to i64
  %40 = icmp slt i64 %39, 0
  %41 = fneg double %38
  %42 = select i1 %40, double %41, double %38
  br label %43

43:                                               ; preds = %10, %2, %6, %37
  %44 = phi double [ %42, %37 ], [ 0x7FF8000000000000, %6 ], [ 0x7FF8000000000000, %2 ], [ %0, %10 ]
  ret double %44
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_nextafter_f64(double noundef %0, double noundef %1) local_unnamed_addr #3 {
  %3 = fcmp uno double %0, %1
  br i1 %3, label %4, label %6

4:                                                ; preds = %2
  %5 = fadd double %0, %1
  br label %20

6:                                                ; preds = %2
  %7 = fcmp oeq double %0, %1
  br i1 %7, label %20, label %8

8:                                                ; preds = %6
  %9 = fcmp oeq double %0, 0.000000e+00
  br i1 %9, label %10, label %12

10:                                               ; preds = %8
  %11 = tail call double @llvm.copysign.f64(double 4.940660e-324, double %1)
  br label %20

12:                                               ; preds = %8
  %13 = bitcast double %0 to i64
  %14 = fcmp olt double %0, %1
  %15 = fcmp ule double %0, 0.000000e+00
  %16 = xor i1 %15, %14
  %17 = select i1 %16, i64 1, i64 -1
  %18 = add nsw i64 %17, %13
  %19 = bitcast i64 %18 to double
  br label %20

20:                                               ; preds = %6, %12, %10, %4
  %21 = phi double [ %5, %4 ], [ %11, %10 ], [ %19, %12 ], [ %1, %6 ]
  ret double %21
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_logb_f64(double noundef %0) local_unnamed_addr #3 {
  %2 = fcmp oeq double %0, 0.000000e+00
  br i1 %2, label %12, label %3

3:                                                ; preds = %1
  %4 = tail call double @llvm.fabs.f64(double %0)
  %5 = fcmp ueq double %4, 0x7FF0000000000000
  br i1 %5, label %6, label %8

6:                                                ; preds = %3
  %7 = fmul double %0, %0
  br label %12

8:                                                ; preds = %3
  %9 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %0)
  %10 = add nsw i32 %9, -1
  %11 = sitofp i32 %10 to double
  br label %12

12:                                               ; preds = %1, %8, %6
  %13 = phi double [ %7, %6 ], [ %11, %8 ], [ 0xFFF0000000000000, %1 ]
  ret double %13
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden i32 @__ocml_ilogb_f64(double noundef %0) local_unnamed_addr #3 {
  %2 = fcmp ueq double %0, 0.000000e+00
  %3 = tail call double @llvm.fabs.f64(double %0)
  %4 = fcmp oeq double %3, 0x7FF0000000000000
  %5 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %0)
  %6 = add nsw i32 %5, -1
  %7 = select i1 %4, i32 2147483647, i32 %6
  %8 = select i1 %2, i32 -2147483648, i32 %7
  ret i32 %8
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_sinpi_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fmul double %0, 2.000000e+00
  %3 = tail call double @llvm.rint.f64(double %2)
  %4 = fmul double %3, 5.000000e-01
  %5 = fsub double %0, %4
  %6 = fmul double %5, 0x400921FB54442D18
  %7 = fmul double %3, 2.500000e-01
  %8 = tail call double @llvm.floor.f64(double %7)
  %9 = fmul double %8, 4.000000e+00
  %10 = fsub double %3, %9
  %11 = fptosi double %10 to i32
  %12 = and i32 %11, 1
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %16, label %14

14:                                               ; preds = %1
  %15 = tail call double @__ocml_cos_f64(double noundef %6) #4
  br label %18

16:                                               ; preds = %1
  %17 = tail call double @__ocml_sin_f64(double noundef %6) #4
  br label %18

18:                                               ; preds = %14, %16
  %19 = phi double [ %15, %14 ], [ %17, %16 ]
  %20 = tail call double @llvm.fabs.f64(double %0)
  %21 = fcmp oeq double %20, 0x7FF0000000000000
  %22 = and i32 %11, 2
  %23 = icmp eq i32 %22, 0
  %24 = fneg double %19
  %25 = select i1 %23, double %19, double %24
  %26 = select i1 %21, double 0x7FF8000000000000, double %25
  ret double %26
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_cospi_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fmul double %0, 2.000000e+00
  %3 = tail call double @llvm.rint.f64(double %2)
  %4 = fmul double %3, 5.000000e-01
  %5 = fsub double %0, %4
  %6 = fmul double %5, 0x400921FB54442D18
  %7 = fmul double %3, 2.500000e-01
  %8 = tail call double @llvm.floor.f64(double %7)
  %9 = fmul double %8, 4.000000e+00
  %10 = fsub double %3, %9
  %11 = fptosi double %10 to i32
  %12 = and i32 %11, 1
  %13 = icmp eq i32 %12, 0
  br i1 %13, label %14, label %16

14:                                               ; preds = %1
  %15 = tail call double @__ocml_cos_f64(double noundef %6) #4
  br label %18

16:                                               ; preds = %1
  %17 = tail call double @__ocml_sin_f64(double noundef %6) #4
  br label %18

18:                                               ; preds = %14, %16
  %19 = phi double [ %15, %14 ], [ %17, %16 ]
  %20 = add nsw i32 %11, 1
  %21 = tail call double @llvm.fabs.f64(double %0)
  %22 = fcmp oeq double %21, 0x7FF0000000000000
  %23 = and i32 %20, 2
  %24 = icmp eq i32 %23, 0
  %25 = fneg double %19
  %26 = select i1 %24, double %19, double %25
  %27 = select i1 %22, double 0x7FF8000000000000, double %26
  ret double %27
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.floor.f64(double) #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_cos_f64(double noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_sin_f64(double noundef) local_unnamed_addr #1

attributes #0 = { alwaysinline convergent mustprogress nofree nounwind willreturn memory(none) "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none) "amdgpu-no-agpr" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #4 = { convergent nounwind willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 2}
