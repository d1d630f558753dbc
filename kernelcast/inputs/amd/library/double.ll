; ModuleID = 'double.hip'
source_filename = "double.hip"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef double @__ocml_round_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.round.f64(double %0)
  ret double %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.round.f64(double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef double @__ocml_sqrt_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.sqrt.f64(double %0)
  ret double %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef double @__ocml_rsqrt_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.sqrt.f64(double %0)
  %3 = fdiv double 1.000000e+00, %2
  ret double %3
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef double @__ocml_ldexp_f64(double noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call double @llvm.ldexp.f64.i32(double %0, i32 %1)
  ret double %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.ldexp.f64.i32(double, i32) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef double @__ocml_fmod_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = frem double %0, %1
  ret double %3
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef double @__ocml_fdim_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = fcmp ole double %0, %1
  %4 = fsub double %0, %1
  %5 = select i1 %3, double 0.000000e+00, double %4
  ret double %5
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_exp_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fmul double %0, 0x3FF71547652B82FE
  %3 = tail call double @llvm.rint.f64(double %2)
  %4 = tail call double @llvm.fma.f64(double %3, double 0xBFE62E42FEE00000, double %0)
  %5 = fmul double %3, 0xBDEA39EF35793C76
  %6 = fadd double %4, %5
  %7 = tail call double @llvm.fma.f64(double %6, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %8 = tail call double @llvm.fma.f64(double %7, double %6, double 0x3E5AE64567F544E4)
  %9 = tail call double @llvm.fma.f64(double %8, double %6, double 0x3E927E4FB7789F5C)
  %10 = tail call double @llvm.fma.f64(double %9, double %6, double 0x3EC71DE3A556C734)
  %11 = tail call double @llvm.fma.f64(double %10, double %6, double 0x3EFA01A01A01A01A)
  %12 = tail call double @llvm.fma.f64(double %11, double %6, double 0x3F2A01A01A01A01A)
  %13 = tail call double @llvm.fma.f64(double %12, double %6, double 0x3F56C16C16C16C17)
  %14 = tail call double @llvm.fma.f64(double %13, double %6, double 0x3F81111111111111)
  %15 = tail call double @llvm.fma.f64(double %14, double %6, double 0x3FA5555555555555)
  %16 = tail call double @llvm.fma.f64(double %15, double %6, double 0x3FC5555555555555)
  %17 = tail call double @llvm.fma.f64(double %16, double %6, double 5.000000e-01)
  %18 = fsub double %4, %6
  %19 = fadd double %5, %18
  %20 = fmul double %6, %6
  %21 = tail call double @llvm.fma.f64(double %20, double %17, double %6)
  %22 = fadd double %21, 1.000000e+00
  %23 = tail call noundef double @llvm.fma.f64(double %19, double %22, double %21)
  %24 = fadd double %23, 1.000000e+00
  %25 = tail call double @llvm.minnum.f64(double %3, double 3.000000e+03)
  %26 = tail call double @llvm.maxnum.f64(double %25, double -3.000000e+03)
  %27 = fptosi double %26 to i32
  %28 = tail call double @llvm.ldexp.f64.i32(double %24, i32 %27)
  %29 = fcmp ogt double %0, 1.000000e+03
  %30 = fcmp olt double %0, -1.000000e+03
  %31 = select i1 %30, double 0.000000e+00, double %28
  %32 = select i1 %29, double 0x7FF0000000000000, double %31
  ret double %32
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.rint.f64(double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_expm1_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fmul double %0, 0x3FF71547652B82FE
  %3 = tail call double @llvm.rint.f64(double %2)
  %4 = tail call double @llvm.fma.f64(double %3, double 0xBFE62E42FEE00000, double %0)
  %5 = fmul double %3, 0xBDEA39EF35793C76
  %6 = fadd double %4, %5
  %7 = fsub double %4, %6
  %8 = tail call double @llvm.fma.f64(double %6, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %9 = tail call double @llvm.fma.f64(double %8, double %6, double 0x3E5AE64567F544E4)
  %10 = tail call double @llvm.fma.f64(double %9, double %6, double 0x3E927E4FB7789F5C)
  %11 = tail call double @llvm.fma.f64(double %10, double %6, double 0x3EC71DE3A556C734)
  %12 = tail call double @llvm.fma.f64(double %11, double %6, double 0x3EFA01A01A01A01A)
  %13 = tail call double @llvm.fma.f64(double %12, double %6, double 0x3F2A01A01A01A01A)
  %14 = tail call double @llvm.fma.f64(double %13, double %6, double 0x3F56C16C16C16C17)
  %15 = tail call double @llvm.fma.f64(double %14, double %6, double 0x3F81111111111111)
  %16 = tail call double @llvm.fma.f64(double %15, double %6, double 0x3FA5555555555555)
  %17 = tail call double @llvm.fma.f64(double %16, double %6, double 0x3FC5555555555555)
  %18 = tail call double @llvm.fma.f64(double %17, double %6, double 5.000000e-01)
  %19 = fadd double %5, %7
  %20 = fmul double %6, %6
  %21 = tail call double @llvm.minnum.f64(double %3, double 3.000000e+03)
  %22 = tail call double @llvm.maxnum.f64(double %21, double -3.000000e+03)
  %23 = fptosi double %22 to i32
  %24 = fcmp ogt double %0, 7.090000e+02
  br i1 %24, label %25, label %33

25:                                               ; preds = %1
  %26 = tail call double @llvm.fma.f64(double %20, double %18, double %6)
  %27 = fadd double %26, 1.000000e+00
  %28 = tail call noundef double @llvm.fma.f64(double %19, double %27, double %26)
  %29 = fadd double %28, 1.000000e+00
  %30 = tail call double @llvm.ldexp.f64.i32(double %29, i32 %23)
  %31 = fcmp ogt double %0, 1.000000e+03
  %32 = select i1 %31, double 0x7FF0000000000000, double %30
  br label %44

33:                                               ; preds = %1
  %34 = fcmp oeq double %3, 0.000000e+00
  %35 = tail call double @llvm.fma.f64(double %20, double %18, double %6)
  %36 = fadd double %35, 1.000000e+00
  %37 = tail call noundef double @llvm.fma.f64(double %19, double %36, double %35)
  %38 = tail call double @llvm.ldexp.f64.i32(double 1.000000e+00, i32 %23)
  %39 = fadd double %38, -1.000000e+00
  %40 = tail call double @llvm.fma.f64(double %38, double %37, double %39)
  %41 = select i1 %34, double %37, double %40
  %42 = fcmp olt double %0, -1.000000e+03
  %43 = select i1 %42, double -1.000000e+00, double %41
  br label %44

44:                                               ; preds = %33, %25
  %45 = phi double [ %32, %25 ], [ %43, %33 ]
  ret double %45
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_exp2_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.rint.f64(double %0)
  %3 = fsub double %0, %2
  %4 = fmul double %3, 0x3FE62E42FEFA39EF
  %5 = tail call double @llvm.fma.f64(double %4, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %6 = tail call double @llvm.fma.f64(double %5, double %4, double 0x3E5AE64567F544E4)
  %7 = tail call double @llvm.fma.f64(double %6, double %4, double 0x3E927E4FB7789F5C)
  %8 = tail call double @llvm.fma.f64(double %7, double %4, double 0x3EC71DE3A556C734)
  %9 = tail call double @llvm.fma.f64(double %8, double %4, double 0x3EFA01A01A01A01A)
  %10 = tail call double @llvm.fma.f64(double %9, double %4, double 0x3F2A01A01A01A01A)
  %11 = tail call double @llvm.fma.f64(double %10, double %4, double 0x3F56C16C16C16C17)
  %12 = tail call double @llvm.fma.f64(double %11, double %4, double 0x3F81111111111111)
  %13 = tail call double @llvm.fma.f64(double %12, double %4, double 0x3FA5555555555555)
  %14 = tail call double @llvm.fma.f64(double %13, double %4, double 0x3FC5555555555555)
  %15 = tail call double @llvm.fma.f64(double %14, double %4, double 5.000000e-01)
  %16 = fneg double %4
  %17 = tail call double @llvm.fma.f64(double %3, double 0x3FE62E42FEFA39EF, double %16)
  %18 = fmul double %4, %4
  %19 = tail call double @llvm.fma.f64(double %18, double %15, double %4)
  %20 = fadd double %19, 1.000000e+00
  %21 = tail call noundef double @llvm.fma.f64(double %17, double %20, double %19)
  %22 = fadd double %21, 1.000000e+00
  %23 = tail call double @llvm.minnum.f64(double %2, double 3.000000e+03)
  %24 = tail call double @llvm.maxnum.f64(double %23, double -3.000000e+03)
  %25 = fptosi double %24 to i32
  %26 = tail call double @llvm.ldexp.f64.i32(double %22, i32 %25)
  %27 = fcmp ogt double %0, 2.000000e+03
  %28 = fcmp olt double %0, -2.000000e+03
  %29 = select i1 %28, double 0.000000e+00, double %26
  %30 = select i1 %27, double 0x7FF0000000000000, double %29
  ret double %30
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_log_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fcmp oeq double %0, 0.000000e+00
  br i1 %2, label %50, label %3

3:                                                ; preds = %1
  %4 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %0)
  %5 = tail call double @llvm.amdgcn.frexp.mant.f64(double %0)
  %6 = fcmp olt double %5, 0x3FE6A09E667F3BCD
  %7 = sext i1 %6 to i32
  %8 = add nsw i32 %4, %7
  %9 = fmul double %5, 2.000000e+00
  %10 = select i1 %6, double %9, double %5
  %11 = fadd double %10, -1.000000e+00
  %12 = fadd double %10, 1.000000e+00
  %13 = fdiv double %11, %12
  %14 = fmul double %13, %13
  %15 = tail call double @llvm.fma.f64(double %14, double 4.000000e-02, double 0x3FA642C8590B2164)
  %16 = tail call double @llvm.fma.f64(double %15, double %14, double 0x3FA8618618618618)
  %17 = tail call double @llvm.fma.f64(double %16, double %14, double 0x3FAAF286BCA1AF28)
  %18 = tail call double @llvm.fma.f64(double %17, double %14, double 0x3FAE1E1E1E1E1E1E)
  %19 = tail call double @llvm.fma.f64(double %18, double %14, double 0x3FB1111111111111)
  %20 = tail call double @llvm.fma.f64(double %19, double %14, double 0x3FB3B13B13B13B14)
  %21 = tail call double @llvm.fma.f64(double %20, double %14, double 0x3FB745D1745D1746)
  %22 = tail call double @llvm.fma.f64(double %21, double %14, double 0x3FBC71C71C71C71C)
  %23 = tail call double @llvm.fma.f64(double %22, double %14, double 0x3FC2492492492492)
  %24 = tail call double @llvm.fma.f64(double %23, double %14, double 2.000000e-01)
  %25 = tail call double @llvm.fma.f64(double %24, double %14, double 0x3FD5555555555555)
  %26 = sitofp i32 %8 to double
  %27 = fmul double %26, 0x3FE62E42FEE00000
  %28 = fmul double %13, 2.000000e+00
  %29 = fadd double %27, %28
  %30 = fsub double %27, %29
  %31 = fadd double %28, %30
  %32 = fmul double %13, %14
  %33 = fneg double %13
  %34 = tail call double @llvm.fma.f64(double %33, double %12, double %11)
  %35 = fsub double %10, %12
  %36 = fadd double %35, 1.000000e+00
  %37 = fmul double %13, %36
  %38 = fsub double %34, %37
  %39 = fdiv double %38, %12
  %40 = tail call double @llvm.fma.f64(double %32, double %25, double %39)
  %41 = fmul double %40, 2.000000e+00
  %42 = fadd double %31, %41
  %43 = fmul double %26, 0x3DEA39EF35793C76
  %44 = fadd double %43, %42
  %45 = fadd double %29, %44
  %46 = fcmp ult double %0, 0.000000e+00
  %47 = fcmp oeq double %0, 0x7FF0000000000000
  %48 = select i1 %47, double %0, double %45
  %49 = select i1 %46, double 0x7FF8000000000000, double %48
  br label %50

50:                                               ; preds = %3, %1
  %51 = phi double [ 0xFFF0000000000000, %1 ], [ %49, %3 ]
  ret double %51
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_log2_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fcmp oeq double %0, 0.000000e+00
  br i1 %2, label %54, label %3

3:                                                ; preds = %1
  %4 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %0)
  %5 = tail call double @llvm.amdgcn.frexp.mant.f64(double %0)
  %6 = fcmp olt double %5, 0x3FE6A09E667F3BCD
  %7 = sext i1 %6 to i32
  %8 = add nsw i32 %4, %7
  %9 = fmul double %5, 2.000000e+00
  %10 = select i1 %6, double %9, double %5
  %11 = fadd double %10, -1.000000e+00
  %12 = fadd double %10, 1.000000e+00
  %13 = fdiv double %11, %12
  %14 = fmul double %13, %13
  %15 = tail call double @llvm.fma.f64(double %14, double 4.000000e-02, double 0x3FA642C8590B2164)
  %16 = tail call double @llvm.fma.f64(double %15, double %14, double 0x3FA8618618618618)
  %17 = tail call double @llvm.fma.f64(double %16, double %14, double 0x3FAAF286BCA1AF28)
  %18 = tail call double @llvm.fma.f64(double %17, double %14, double 0x3FAE1E1E1E1E1E1E)
  %19 = tail call double @llvm.fma.f64(double %18, double %14, double 0x3FB1111111111111)
  %20 = tail call double @llvm.fma.f64(double %19, double %14, double 0x3FB3B13B13B13B14)
  %21 = tail call double @llvm.fma.f64(double %20, double %14, double 0x3FB745D1745D1746)
  %22 = tail call double @llvm.fma.f64(double %21, double %14, double 0x3FBC71C71C71C71C)
  %23 = tail call double @llvm.fma.f64(double %22, double %14, double 0x3FC2492492492492)
  %24 = tail call double @llvm.fma.f64(double %23, double %14, double 2.000000e-01)
  %25 = tail call double @llvm.fma.f64(double %24, double %14, double 0x3FD5555555555555)
  %26 = fmul double %13, 2.000000e+00
  %27 = fmul double %26, 0x3FF71547652B82FE
  %28 = sitofp i32 %8 to double
  %29 = fadd double %27, %28
  %30 = fsub double %28, %29
  %31 = fadd double %27, %30
  %32 = fneg double %27
  %33 = tail call double @llvm.fma.f64(double %26, double 0x3FF71547652B82FE, double %32)
  %34 = fmul double %26, 0x3C7777D0FFDA0D24
  %35 = fadd double %34, %33
  %36 = fmul double %13, %14
  %37 = fneg double %13
  %38 = tail call double @llvm.fma.f64(double %37, double %12, double %11)
  %39 = fsub double %10, %12
  %40 = fadd double %39, 1.000000e+00
  %41 = fmul double %13, %40
  %42 = fsub double %38, %41
  %43 = fdiv double %42, %12
  %44 = tail call double @llvm.fma.f64(double %36, double %25, double %43)
  %45 = fmul double %44, 2.000000e+00
  %46 = fmul double %45, 0x3FF71547652B82FE
  %47 = fadd double %35, %46
  %48 = fadd double %31, %47
  %49 = fadd double %29, %48
  %50 = fcmp ult double %0, 0.000000e+00
  %51 = fcmp oeq double %0, 0x7FF0000000000000
  %52 = select i1 %51, double %0, double %49
  %53 = select i1 %50, double 0x7FF8000000000000, double %52
  br label %54

54:                                               ; preds = %3, %1
  %55 = phi double [ 0xFFF0000000000000, %1 ], [ %53, %3 ]
  ret double %55
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_log10_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fcmp oeq double %0, 0.000000e+00
  br i1 %2, label %55, label %3

3:                                                ; preds = %1
  %4 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %0)
  %5 = tail call double @llvm.amdgcn.frexp.mant.f64(double %0)
  %6 = fcmp olt double %5, 0x3FE6A09E667F3BCD
  %7 = sext i1 %6 to i32
  %8 = add nsw i32 %4, %7
  %9 = fmul double %5, 2.000000e+00
  %10 = select i1 %6, double %9, double %5
  %11 = fadd double %10, -1.000000e+00
  %12 = fadd double %10, 1.000000e+00
  %13 = fdiv double %11, %12
  %14 = fmul double %13, %13
  %15 = tail call double @llvm.fma.f64(double %14, double 4.000000e-02, double 0x3FA642C8590B2164)
  %16 = tail call double @llvm.fma.f64(double %15, double %14, double 0x3FA8618618618618)
  %17 = tail call double @llvm.fma.f64(double %16, double %14, double 0x3FAAF286BCA1AF28)
  %18 = tail call double @llvm.fma.f64(double %17, double %14, double 0x3FAE1E1E1E1E1E1E)
  %19 = tail call double @llvm.fma.f64(double %18, double %14, double 0x3FB1111111111111)
  %20 = tail call double @llvm.fma.f64(double %19, double %14, double 0x3FB3B13B13B13B14)
  %21 = tail call double @llvm.fma.f64(double %20, double %14, double 0x3FB745D1745D1746)
  %22 = tail call double @llvm.fma.f64(double %21, double %14, double 0x3FBC71C71C71C71C)
  %23 = tail call double @llvm.fma.f64(double %22, double %14, double 0x3FC2492492492492)
  %24 = tail call double @llvm.fma.f64(double %23, double %14, double 2.000000e-01)
  %25 = tail call double @llvm.fma.f64(double %24, double %14, double 0x3FD5555555555555)
  %26 = fmul double %13, 2.000000e+00
  %27 = fmul double %26, 0x3FF71547652B82FE
  %28 = sitofp i32 %8 to double
  %29 = fadd double %27, %28
  %30 = fsub double %28, %29
  %31 = fadd double %27, %30
  %32 = fneg double %27
  %33 = tail call double @llvm.fma.f64(double %26, double 0x3FF71547652B82FE, double %32)
  %34 = fmul double %26, 0x3C7777D0FFDA0D24
  %35 = fadd double %34, %33
  %36 = fmul double %13, %14
  %37 = fneg double %13
  %38 = tail call double @llvm.fma.f64(double %37, double %12, double %11)
  %39 = fsub double %10, %12
  %40 = fadd double %39, 1.000000e+00
  %41 = fmul double %13, %40
  %42 = fsub double %38, %41
  %43 = fdiv double %42, %12
  %44 = tail call double @llvm.fma.f64(double %36, double %25, double %43)
  %45 = fmul double %44, 2.000000e+00
  %46 = fmul double %45, 0x3FF71547652B82FE
  %47 = fadd double %35, %46
  %48 = fadd double %31, %47
  %49 = fadd double %29, %48
  %50 = fcmp ult double %0, 0.000000e+00
  %51 = fcmp oeq double %0, 0x7FF0000000000000
  %52 = select i1 %51, double %0, double %49
  %53 = fmul double %52, 0x3FD34413509F79FF
  %54 = select i1 %50, double 0x7FF8000000000000, double %53
  br label %55

55:                                               ; preds = %3, %1
  %56 = phi double [ 0xFFF0000000000000, %1 ], [ %54, %3 ]
  ret double %56
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_tanh_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fmul double %2, 2.000000e+00
  %4 = tail call double @llvm.minnum.f64(double %3, double 1.000000e+02)
  %5 = fmul double %4, 0x3FF71547652B82FE
  %6 = tail call double @llvm.rint.f64(double %5)
  %7 = tail call double @llvm.fma.f64(double %6, double 0xBFE62E42FEE00000, double %4)
  %8 = fmul double %6, 0xBDEA39EF35793C76
  %9 = fadd double %7, %8
  %10 = fsub double %7, %9
  %11 = tail call double @llvm.fma.f64(double %9, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %12 = tail call double @llvm.fma.f64(double %11, double %9, double 0x3E5AE64567F544E4)
  %13 = tail call double @llvm.fma.f64(double %12, double %9, double 0x3E927E4FB7789F5C)
  %14 = tail call double @llvm.fma.f64(double %13, double %9, double 0x3EC71DE3A556C734)
  %15 = tail call double @llvm.fma.f64(double %14, double %9, double 0x3EFA01A01A01A01A)
  %16 = tail call double @llvm.fma.f64(double %15, double %9, double 0x3F2A01A01A01A01A)
  %17 = tail call double @llvm.fma.f64(double %16, double %9, double 0x3F56C16C16C16C17)
  %18 = tail call double @llvm.fma.f64(double %17, double %9, double 0x3F81111111111111)
  %19 = tail call double @llvm.fma.f64(double %18, double %9, double 0x3FA5555555555555)
  %20 = tail call double @llvm.fma.f64(double %19, double %9, double 0x3FC5555555555555)
  %21 = tail call double @llvm.fma.f64(double %20, double %9, double 5.000000e-01)
  %22 = fadd double %8, %10
  %23 = fmul double %9, %9
  %24 = tail call double @llvm.fma.f64(double %23, double %21, double %9)
  %25 = fadd double %24, 1.000000e+00
  %26 = tail call noundef double @llvm.fma.f64(double %22, double %25, double %24)
  %27 = tail call double @llvm.minnum.f64(double %6, double 3.000000e+03)
  %28 = tail call double @llvm.maxnum.f64(double %27, double -3.000000e+03)
  %29 = fptosi double %28 to i32
  %30 = fcmp oeq double %6, 0.000000e+00
  %31 = tail call double @llvm.ldexp.f64.i32(double 1.000000e+00, i32 %29)
  %32 = fadd double %31, -1.000000e+00
  %33 = tail call double @llvm.fma.f64(double %31, double %26, double %32)
  %34 = select i1 %30, double %26, double %33
  %35 = fcmp olt double %4, -1.000000e+03
  %36 = select i1 %35, double -1.000000e+00, double %34
  %37 = fcmp olt double %36, 2.000000e+00
  %38 = fadd double %36, 2.000000e+00
  br i1 %37, label %39, label %41

39:                                               ; preds = %1
  %40 = fdiv double %36, %38
  br label %44

41:                                               ; preds = %1
  %42 = fdiv double 2.000000e+00, %38
  %43 = fsub double 1.000000e+00, %42
  br label %44

44:                                               ; preds = %41, %39
  %45 = phi double [ %40, %39 ], [ %43, %41 ]
  %46 = fcmp uno double %0, 0.000000e+00
  %47 = tail call double @llvm.copysign.f64(double %45, double %0)
  %48 = select i1 %46, double %0, double %47
  ret double %48
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.minnum.f64(double, double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.copysign.f64(double, double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_pow_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = tail call double @llvm.fabs.f64(double %0)
  %4 = tail call double @llvm.trunc.f64(double %1)
  %5 = fcmp oeq double %4, %1
  %6 = fmul double %1, 5.000000e-01
  %7 = tail call double @llvm.trunc.f64(double %6)
  %8 = fmul double %7, 2.000000e+00
  %9 = fcmp une double %8, %1
  %10 = and i1 %5, %9
  %11 = fcmp oeq double %1, 0.000000e+00
  %12 = fcmp oeq double %0, 1.000000e+00
  %13 = or i1 %12, %11
  br i1 %13, label %149, label %14

14:                                               ; preds = %2
  %15 = fcmp oeq double %0, -1.000000e+00
  %16 = tail call double @llvm.fabs.f64(double %1)
  %17 = fcmp oeq double %16, 0x7FF0000000000000
  %18 = and i1 %15, %17
  br i1 %18, label %149, label %19

19:                                               ; preds = %14
  %20 = fcmp uno double %0, %1
  br i1 %20, label %21, label %23

21:                                               ; preds = %19
  %22 = fadd double %0, %1
  br label %149

23:                                               ; preds = %19
  %24 = tail call double @llvm.amdgcn.frexp.mant.f64(double %3)
  %25 = fcmp olt double %24, 0x3FE6A09E667F3BCD
  %26 = sext i1 %25 to i32
  %27 = fmul double %24, 2.000000e+00
  %28 = select i1 %25, double %27, double %24
  %29 = fadd double %28, -1.000000e+00
  %30 = fadd double %28, 1.000000e+00
  %31 = fdiv double %29, %30
  %32 = fmul double %31, %31
  %33 = tail call double @llvm.fma.f64(double %32, double 4.000000e-02, double 0x3FA642C8590B2164)
  %34 = tail call double @llvm.fma.f64(double %33, double %32, double 0x3FA8618618618618)
  %35 = tail call double @llvm.fma.f64(double %34, double %32, double 0x3FAAF286BCA1AF28)
  %36 = tail call double @llvm.fma.f64(double %35, double %32, double 0x3FAE1E1E1E1E1E1E)
  %37 = tail call double @llvm.fma.f64(double %36, double %32, double 0x3FB1111111111111)
  %38 = tail call double @llvm.fma.f64(double %37, double %32, double 0x3FB3B13B13B13B14)
  %39 = tail call double @llvm.fma.f64(double %38, double %32, double 0x3FB745D1745D1746)
  %40 = tail call double @llvm.fma.f64(double %39, double %32, double 0x3FBC71C71C71C71C)
  %41 = tail call double @llvm.fma.f64(double %40, double %32, double 0x3FC2492492492492)
  %42 = tail call double @llvm.fma.f64(double %41, double %32, double 2.000000e-01)
  %43 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %3)
  %44 = add nsw i32 %43, %26
  %45 = fmul double %31, %32
  %46 = fmul double %45, 0x3FD5555555555555
  %47 = fneg double %46
  %48 = tail call double @llvm.fma.f64(double %45, double 0x3FD5555555555555, double %47)
  %49 = fmul double %45, 0x3C75555555555555
  %50 = fadd double %49, %48
  %51 = fneg double %45
  %52 = tail call double @llvm.fma.f64(double %31, double %32, double %51)
  %53 = fneg double %32
  %54 = tail call double @llvm.fma.f64(double %31, double %31, double %53)
  %55 = fmul double %31, 2.000000e+00
  %56 = fneg double %31
  %57 = tail call double @llvm.fma.f64(double %56, double %30, double %29)
  %58 = fadd double %30, -1.000000e+00
  %59 = fsub double %28, %58
  %60 = fmul double %31, %59
  %61 = fsub double %57, %60
  %62 = fdiv double %61, %30
  %63 = fmul double %55, %62
  %64 = fadd double %54, %63
  %65 = fmul double %31, %64
  %66 = fadd double %52, %65
  %67 = fmul double %32, %62
  %68 = fadd double %67, %66
  %69 = fmul double %68, 0x3FD5555555555555
  %70 = fadd double %50, %69
  %71 = fadd double %31, %46
  %72 = fsub double %31, %71
  %73 = fadd double %46, %72
  %74 = fadd double %62, %70
  %75 = fmul double %32, %45
  %76 = fmul double %75, %42
  %77 = fadd double %74, %76
  %78 = fadd double %73, %77
  %79 = fadd double %71, %78
  %80 = fmul double %79, 0x40071547652B82FE
  %81 = sitofp i32 %44 to double
  %82 = fadd double %80, %81
  %83 = fmul double %82, %1
  %84 = fcmp oeq double %0, 0.000000e+00
  %85 = fcmp oeq double %3, 0x7FF0000000000000
  %86 = or i1 %84, %85
  br i1 %86, label %87, label %91

87:                                               ; preds = %23
  %88 = fcmp uge double %1, 0.000000e+00
  %89 = xor i1 %84, %88
  %90 = select i1 %89, double 0x7FF0000000000000, double 0.000000e+00
  br label %141

91:                                               ; preds = %23
  %92 = tail call double @llvm.rint.f64(double %83)
  %93 = fsub double %83, %92
  %94 = fmul double %93, 0x3C7ABC9E3B39803F
  %95 = fmul double %93, 0x3FE62E42FEFA39EF
  %96 = fneg double %95
  %97 = tail call double @llvm.fma.f64(double %93, double 0x3FE62E42FEFA39EF, double %96)
  %98 = fadd double %94, %97
  %99 = fneg double %83
  %100 = tail call double @llvm.fma.f64(double %1, double %82, double %99)
  %101 = fsub double %81, %82
  %102 = fadd double %80, %101
  %103 = fmul double %79, 0x3C8777D0FFDA0D24
  %104 = fneg double %80
  %105 = tail call double @llvm.fma.f64(double %79, double 0x40071547652B82FE, double %104)
  %106 = fadd double %103, %105
  %107 = fsub double %71, %79
  %108 = fadd double %78, %107
  %109 = fmul double %108, 0x40071547652B82FE
  %110 = fadd double %106, %109
  %111 = fadd double %102, %110
  %112 = fmul double %111, %1
  %113 = fadd double %100, %112
  %114 = fmul double %113, 0x3FE62E42FEFA39EF
  %115 = fadd double %98, %114
  %116 = tail call double @llvm.fma.f64(double %95, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %117 = tail call double @llvm.fma.f64(double %116, double %95, double 0x3E5AE64567F544E4)
  %118 = tail call double @llvm.fma.f64(double %117, double %95, double 0x3E927E4FB7789F5C)
  %119 = tail call double @llvm.fma.f64(double %118, double %95, double 0x3EC71DE3A556C734)
  %120 = tail call double @llvm.fma.f64(double %119, double %95, double 0x3EFA01A01A01A01A)
  %121 = tail call double @llvm.fma.f64(double %120, double %95, double 0x3F2A01A01A01A01A)
  %122 = tail call double @llvm.fma.f64(double %121, double %95, double 0x3F56C16C16C16C17)
  %123 = tail call double @llvm.fma.f64(double %122, double %95, double 0x3F81111111111111)
  %124 = tail call double @llvm.fma.f64(double %123, double %95, double 0x3FA5555555555555)
  %125 = tail call double @llvm.fma.f64(double %124, double %95, double 0x3FC5555555555555)
  %126 = tail call double @llvm.fma.f64(double %125, double %95, double 5.000000e-01)
  %127 = fmul double %95, %95
  %128 = tail call double @llvm.fma.f64(double %127, double %126, double %95)
  %129 = fadd double %128, 1.000000e+00
  %130 = tail call noundef double @llvm.fma.f64(double %115, double %129, double %128)
  %131 = fadd double %130, 1.000000e+00
  %132 = tail call double @llvm.minnum.f64(double %92, double 3.000000e+03)
  %133 = tail call double @llvm.maxnum.f64(double %132, double -3.000000e+03)
  %134 = fptosi double %133 to i32
  %135 = tail call double @llvm.ldexp.f64.i32(double %131, i32 %134)
  %136 = tail call double @llvm.fabs.f64(double %83)
  %137 = fcmp ogt double %136, 2.000000e+03
  br i1 %137, label %138, label %141

138:                                              ; preds = %91
  %139 = fcmp ogt double %83, 0.000000e+00
  %140 = select i1 %139, double 0x7FF0000000000000, double 0.000000e+00
  br label %141

141:                                              ; preds = %91, %138, %87
  %142 = phi double [ %90, %87 ], [ %140, %138 ], [ %135, %91 ]
  %143 = fcmp uge double %0, 0.000000e+00
  %144 = or i1 %143, %5
  %145 = or i1 %85, %144
  %146 = tail call double @llvm.copysign.f64(double %142, double %0)
  %147 = select i1 %10, double %146, double %142
  %148 = select i1 %145, double %147, double 0x7FF8000000000000
  br label %149

149:                                              ; preds = %2, %14, %141, %21
  %150 = phi double [ %22, %21 ], [ %148, %141 ], [ 1.000000e+00, %14 ], [ 1.000000e+00, %2 ]
  ret double %150
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.trunc.f64(double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_powr_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = tail call double @llvm.fabs.f64(double %0)
  %4 = tail call double @llvm.trunc.f64(double %1)
  %5 = fcmp oeq double %4, %1
  %6 = fmul double %1, 5.000000e-01
  %7 = tail call double @llvm.trunc.f64(double %6)
  %8 = fmul double %7, 2.000000e+00
  %9 = fcmp une double %8, %1
  %10 = and i1 %5, %9
  %11 = fcmp oeq double %1, 0.000000e+00
  %12 = fcmp oeq double %0, 1.000000e+00
  %13 = or i1 %12, %11
  br i1 %13, label %149, label %14

14:                                               ; preds = %2
  %15 = fcmp oeq double %0, -1.000000e+00
  %16 = tail call double @llvm.fabs.f64(double %1)
  %17 = fcmp oeq double %16, 0x7FF0000000000000
  %18 = and i1 %15, %17
  br i1 %18, label %149, label %19

19:                                               ; preds = %14
  %20 = fcmp uno double %0, %1
  br i1 %20, label %21, label %23

21:                                               ; preds = %19
  %22 = fadd double %0, %1
  br label %149

23:                                               ; preds = %19
  %24 = tail call double @llvm.amdgcn.frexp.mant.f64(double %3)
  %25 = fcmp olt double %24, 0x3FE6A09E667F3BCD
  %26 = sext i1 %25 to i32
  %27 = fmul double %24, 2.000000e+00
  %28 = select i1 %25, double %27, double %24
  %29 = fadd double %28, -1.000000e+00
  %30 = fadd double %28, 1.000000e+00
  %31 = fdiv double %29, %30
  %32 = fmul double %31, %31
  %33 = tail call double @llvm.fma.f64(double %32, double 4.000000e-02, double 0x3FA642C8590B2164)
  %34 = tail call double @llvm.fma.f64(double %33, double %32, double 0x3FA8618618618618)
  %35 = tail call double @llvm.fma.f64(double %34, double %32, double 0x3FAAF286BCA1AF28)
  %36 = tail call double @llvm.fma.f64(double %35, double %32, double 0x3FAE1E1E1E1E1E1E)
  %37 = tail call double @llvm.fma.f64(double %36, double %32, double 0x3FB1111111111111)
  %38 = tail call double @llvm.fma.f64(double %37, double %32, double 0x3FB3B13B13B13B14)
  %39 = tail call double @llvm.fma.f64(double %38, double %32, double 0x3FB745D1745D1746)
  %40 = tail call double @llvm.fma.f64(double %39, double %32, double 0x3FBC71C71C71C71C)
  %41 = tail call double @llvm.fma.f64(double %40, double %32, double 0x3FC2492492492492)
  %42 = tail call double @llvm.fma.f64(double %41, double %32, double 2.000000e-01)
  %43 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %3)
  %44 = add nsw i32 %43, %26
  %45 = fmul double %31, %32
  %46 = fmul double %45, 0x3FD5555555555555
  %47 = fneg double %46
  %48 = tail call double @llvm.fma.f64(double %45, double 0x3FD5555555555555, double %47)
  %49 = fmul double %45, 0x3C75555555555555
  %50 = fadd double %49, %48
  %51 = fneg double %45
  %52 = tail call double @llvm.fma.f64(double %31, double %32, double %51)
  %53 = fneg double %32
  %54 = tail call double @llvm.fma.f64(double %31, double %31, double %53)
  %55 = fmul double %31, 2.000000e+00
  %56 = fneg double %31
  %57 = tail call double @llvm.fma.f64(double %56, double %30, double %29)
  %58 = fadd double %30, -1.000000e+00
  %59 = fsub double %28, %58
  %60 = fmul double %31, %59
  %61 = fsub double %57, %60
  %62 = fdiv double %61, %30
  %63 = fmul double %55, %62
  %64 = fadd double %54, %63
  %65 = fmul double %31, %64
  %66 = fadd double %52, %65
  %67 = fmul double %32, %62
  %68 = fadd double %67, %66
  %69 = fmul double %68, 0x3FD5555555555555
  %70 = fadd double %50, %69
  %71 = fadd double %31, %46
  %72 = fsub double %31, %71
  %73 = fadd double %46, %72
  %74 = fadd double %62, %70
  %75 = fmul double %32, %45
  %76 = fmul double %75, %42
  %77 = fadd double %74, %76
  %78 = fadd double %73, %77
  %79 = fadd double %71, %78
  %80 = fmul double %79, 0x40071547652B82FE
  %81 = sitofp i32 %44 to double
  %82 = fadd double %80, %81
  %83 = fmul double %82, %1
  %84 = fcmp oeq double %0, 0.000000e+00
  %85 = fcmp oeq double %3, 0x7FF0000000000000
  %86 = or i1 %84, %85
  br i1 %86, label %87, label %91

87:                                               ; preds = %23
  %88 = fcmp uge double %1, 0.000000e+00
  %89 = xor i1 %84, %88
  %90 = select i1 %89, double 0x7FF0000000000000, double 0.000000e+00
  br label %141

91:                                               ; preds = %23
  %92 = tail call double @llvm.rint.f64(double %83)
  %93 = fsub double %83, %92
  %94 = fmul double %93, 0x3C7ABC9E3B39803F
  %95 = fmul double %93, 0x3FE62E42FEFA39EF
  %96 = fneg double %95
  %97 = tail call double @llvm.fma.f64(double %93, double 0x3FE62E42FEFA39EF, double %96)
  %98 = fadd double %94, %97
  %99 = fneg double %83
  %100 = tail call double @llvm.fma.f64(double %1, double %82, double %99)
  %101 = fsub double %81, %82
  %102 = fadd double %80, %101
  %103 = fmul double %79, 0x3C8777D0FFDA0D24
  %104 = fneg double %80
  %105 = tail call double @llvm.fma.f64(double %79, double 0x40071547652B82FE, double %104)
  %106 = fadd double %103, %105
  %107 = fsub double %71, %79
  %108 = fadd double %78, %107
  %109 = fmul double %108, 0x40071547652B82FE
  %110 = fadd double %106, %109
  %111 = fadd double %102, %110
  %112 = fmul double %111, %1
  %113 = fadd double %100, %112
  %114 = fmul double %113, 0x3FE62E42FEFA39EF
  %115 = fadd double %98, %114
  %116 = tail call double @llvm.fma.f64(double %95, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %117 = tail call double @llvm.fma.f64(double %116, double %95, double 0x3E5AE64567F544E4)
  %118 = tail call double @llvm.fma.f64(double %117, double %95, double 0x3E927E4FB7789F5C)
  %119 = tail call double @llvm.fma.f64(double %118, double %95, double 0x3EC71DE3A556C734)
  %120 = tail call double @llvm.fma.f64(double %119, double %95, double 0x3EFA01A01A01A01A)
  %121 = tail call double @llvm.fma.f64(double %120, double %95, double 0x3F2A01A01A01A01A)
  %122 = tail call double @llvm.fma.f64(double %121, double %95, double 0x3F56C16C16C16C17)
  %123 = tail call double @llvm.fma.f64(double %122, double %95, double 0x3F81111111111111)
  %124 = tail call double @llvm.fma.f64(double %123, double %95, double 0x3FA5555555555555)
  %125 = tail call double @llvm.fma.f64(double %124, double %95, double 0x3FC5555555555555)
  %126 = tail call double @llvm.fma.f64(double %125, double %95, double 5.000000e-01)
  %127 = fmul double %95, %95
  %128 = tail call double @llvm.fma.f64(double %127, double %126, double %95)
  %129 = fadd double %128, 1.000000e+00
  %130 = tail call noundef double @llvm.fma.f64(double %115, double %129, double %128)
  %131 = fadd double %130, 1.000000e+00
  %132 = tail call double @llvm.minnum.f64(double %92, double 3.000000e+03)
  %133 = tail call double @llvm.maxnum.f64(double %132, double -3.000000e+03)
  %134 = fptosi double %133 to i32
  %135 = tail call double @llvm.ldexp.f64.i32(double %131, i32 %134)
  %136 = tail call double @llvm.fabs.f64(double %83)
  %137 = fcmp ogt double %136, 2.000000e+03
  br i1 %137, label %138, label %141

138:                                              ; preds = %91
  %139 = fcmp ogt double %83, 0.000000e+00
  %140 = select i1 %139, double 0x7FF0000000000000, double 0.000000e+00
  br label %141

141:                                              ; preds = %138, %91, %87
  %142 = phi double [ %90, %87 ], [ %140, %138 ], [ %135, %91 ]
  %143 = fcmp uge double %0, 0.000000e+00
  %144 = or i1 %143, %5
  %145 = or i1 %85, %144
  %146 = tail call double @llvm.copysign.f64(double %142, double %0)
  %147 = select i1 %10, double %146, double %142
  %148 = select i1 %145, double %147, double 0x7FF8000000000000
  br label %149

149:                                              ; preds = %2, %14, %21, %141
  %150 = phi double [ %22, %21 ], [ %148, %141 ], [ 1.000000e+00, %14 ], [ 1.000000e+00, %2 ]
  ret double %150
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_pown_f64(double noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = sitofp i32 %1 to double
  %4 = tail call double @llvm.fabs.f64(double %0)
  %5 = fmul double %3, 5.000000e-01
  %6 = tail call double @llvm.trunc.f64(double %5)
  %7 = fmul double %6, 2.000000e+00
  %8 = fcmp une double %7, %3
  %9 = icmp eq i32 %1, 0
  %10 = fcmp oeq double %0, 1.000000e+00
  %11 = or i1 %10, %9
  br i1 %11, label %138, label %12

12:                                               ; preds = %2
  %13 = fcmp uno double %0, 0.000000e+00
  br i1 %13, label %14, label %16

14:                                               ; preds = %12
  %15 = fadd double %3, %0
  br label %138

16:                                               ; preds = %12
  %17 = tail call double @llvm.amdgcn.frexp.mant.f64(double %4)
  %18 = fcmp olt double %17, 0x3FE6A09E667F3BCD
  %19 = sext i1 %18 to i32
  %20 = fmul double %17, 2.000000e+00
  %21 = select i1 %18, double %20, double %17
  %22 = fadd double %21, -1.000000e+00
  %23 = fadd double %21, 1.000000e+00
  %24 = fdiv double %22, %23
  %25 = fmul double %24, %24
  %26 = tail call double @llvm.fma.f64(double %25, double 4.000000e-02, double 0x3FA642C8590B2164)
  %27 = tail call double @llvm.fma.f64(double %26, double %25, double 0x3FA8618618618618)
  %28 = tail call double @llvm.fma.f64(double %27, double %25, double 0x3FAAF286BCA1AF28)
  %29 = tail call double @llvm.fma.f64(double %28, double %25, double 0x3FAE1E1E1E1E1E1E)
  %30 = tail call double @llvm.fma.f64(double %29, double %25, double 0x3FB1111111111111)
  %31 = tail call double @llvm.fma.f64(double %30, double %25, double 0x3FB3B13B13B13B14)
  %32 = tail call double @llvm.fma.f64(double %31, double %25, double 0x3FB745D1745D1746)
  %33 = tail call double @llvm.fma.f64(double %32, double %25, double 0x3FBC71C71C71C71C)
  %34 = tail call double @llvm.fma.f64(double %33, double %25, double 0x3FC2492492492492)
  %35 = tail call double @llvm.fma.f64(double %34, double %25, double 2.000000e-01)
  %36 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %4)
  %37 = add nsw i32 %36, %19
  %38 = fmul double %24, %25
  %39 = fmul double %38, 0x3FD5555555555555
  %40 = fneg double %39
  %41 = tail call double @llvm.fma.f64(double %38, double 0x3FD5555555555555, double %40)
  %42 = fmul double %38, 0x3C75555555555555
  %43 = fadd double %42, %41
  %44 = fneg double %38
  %45 = tail call double @llvm.fma.f64(double %24, double %25, double %44)
  %46 = fneg double %25
  %47 = tail call double @llvm.fma.f64(double %24, double %24, double %46)
  %48 = fmul double %24, 2.000000e+00
  %49 = fneg double %24
  %50 = tail call double @llvm.fma.f64(double %49, double %23, double %22)
  %51 = fadd double %23, -1.000000e+00
  %52 = fsub double %21, %51
  %53 = fmul double %24, %52
  %54 = fsub double %50, %53
  %55 = fdiv double %54, %23
  %56 = fmul double %48, %55
  %57 = fadd double %47, %56
  %58 = fmul double %24, %57
  %59 = fadd double %45, %58
  %60 = fmul double %25, %55
  %61 = fadd double %60, %59
  %62 = fmul double %61, 0x3FD5555555555555
  %63 = fadd double %43, %62
  %64 = fadd double %24, %39
  %65 = fsub double %24, %64
  %66 = fadd double %39, %65
  %67 = fadd double %55, %63
  %68 = fmul double %25, %38
  %69 = fmul double %68, %35
  %70 = fadd double %67, %69
  %71 = fadd double %66, %70
  %72 = fadd double %64, %71
  %73 = fmul double %72, 0x40071547652B82FE
  %74 = sitofp i32 %37 to double
  %75 = fadd double %73, %74
  %76 = fmul double %75, %3
  %77 = fcmp oeq double %0, 0.000000e+00
  %78 = fcmp oeq double %4, 0x7FF0000000000000
  %79 = or i1 %77, %78
  br i1 %79, label %80, label %84

80:                                               ; preds = %16
  %81 = icmp sgt i32 %1, -1
  %82 = xor i1 %77, %81
  %83 = select i1 %82, double 0x7FF0000000000000, double 0.000000e+00
  br label %134

84:                                               ; preds = %16
  %85 = tail call double @llvm.rint.f64(double %76)
  %86 = fsub double %76, %85
  %87 = fmul double %86, 0x3C7ABC9E3B39803F
  %88 = fmul double %86, 0x3FE62E42FEFA39EF
  %89 = fneg double %88
  %90 = tail call double @llvm.fma.f64(double %86, double 0x3FE62E42FEFA39EF, double %89)
  %91 = fadd double %87, %90
  %92 = fneg double %76
  %93 = tail call double @llvm.fma.f64(double %3, double %75, double %92)
  %94 = fsub double %74, %75
  %95 = fadd double %73, %94
  %96 = fmul double %72, 0x3C8777D0FFDA0D24
  %97 = fneg double %73
  %98 = tail call double @llvm.fma.f64(double %72, double 0x40071547652B82FE, double %97)
  %99 = fadd double %96, %98
  %100 = fsub double %64, %72
  %101 = fadd double %71, %100
  %102 = fmul double %101, 0x40071547652B82FE
  %103 = fadd double %99, %102
  %104 = fadd double %95, %103
  %105 = fmul double %104, %3
  %106 = fadd double %93, %105
  %107 = fmul double %106, 0x3FE62E42FEFA39EF
  %108 = fadd double %91, %107
  %109 = tail call double @llvm.fma.f64(double %88, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %110 = tail call double @llvm.fma.f64(double %109, double %88, double 0x3E5AE64567F544E4)
  %111 = tail call double @llvm.fma.f64(double %110, double %88, double 0x3E927E4FB7789F5C)
  %112 = tail call double @llvm.fma.f64(double %111, double %88, double 0x3EC71DE3A556C734)
  %113 = tail call double @llvm.fma.f64(double %112, double %88, double 0x3EFA01A01A01A01A)
  %114 = tail call double @llvm.fma.f64(double %113, double %88, double 0x3F2A01A01A01A01A)
  %115 = tail call double @llvm.fma.f64(double %114, double %88, double 0x3F56C16C16C16C17)
  %116 = tail call double @llvm.fma.f64(double %115, double %88, double 0x3F81111111111111)
  %117 = tail call double @llvm.fma.f64(double %116, double %88, double 0x3FA5555555555555)
  %118 = tail call double @llvm.fma.f64(double %117, double %88, double 0x3FC5555555555555)
  %119 = tail call double @llvm.fma.f64(double %118, double %88, double 5.000000e-01)
  %120 = fmul double %88, %88
  %121 = tail call double @llvm.fma.f64(double %120, double %119, double %88)
  %122 = fadd double %121, 1.000000e+00
  %123 = tail call noundef double @llvm.fma.f64(double %108, double %122, double %121)
  %124 = fadd double %123, 1.000000e+00
  %125 = tail call double @llvm.minnum.f64(double %85, double 3.000000e+03)
  %126 = tail call double @llvm.maxnum.f64(double %125, double -3.000000e+03)
  %127 = fptosi double %126 to i32
  %128 = tail call double @llvm.ldexp.f64.i32(double %124, i32 %127)
  %129 = tail call double @llvm.fabs.f64(double %76)
  %130 = fcmp ogt double %129, 2.000000e+03
  br i1 %130, label %131, label %134

131:                                              ; preds = %84
  %132 = fcmp ogt double %76, 0.000000e+00
  %133 = select i1 %132, double 0x7FF0000000000000, double 0.000000e+00
  br label %134

134:                                              ; preds = %131, %84, %80
  %135 = phi double [ %83, %80 ], [ %133, %131 ], [ %128, %84 ]
  %136 = tail call double @llvm.copysign.f64(double %135, double %0)
  %137 = select i1 %8, double %136, double %135
  br label %138

138:                                              ; preds = %2, %14, %134
  %139 = phi double [ %15, %14 ], [ %137, %134 ], [ 1.000000e+00, %2 ]
  ret double %139
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_pow_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = tail call float @llvm.trunc.f32(float %1)
  %5 = fcmp oeq float %4, %1
  %6 = tail call float @llvm.fabs.f32(float %1)
  %7 = fcmp olt float %6, 0x4170000000000000
  %8 = and i1 %5, %7
  %9 = fptosi float %1 to i32
  %10 = and i32 %9, 1
  %11 = icmp ne i32 %10, 0
  %12 = select i1 %8, i1 %11, i1 false
  %13 = fcmp oeq float %1, 0.000000e+00
  %14 = fcmp oeq float %0, 1.000000e+00
  %15 = or i1 %14, %13
  br i1 %15, label %117, label %16

16:                                               ; preds = %2
  %17 = fcmp uno float %0, %1
  br i1 %17, label %18, label %20

18:                                               ; preds = %16
  %19 = fadd float %0, %1
  br label %117

20:                                               ; preds = %16
  %21 = fcmp oeq float %0, -1.000000e+00
  %22 = fcmp oeq float %6, 0x7FF0000000000000
  %23 = and i1 %21, %22
  br i1 %23, label %117, label %24

24:                                               ; preds = %20
  %25 = fpext float %3 to double
  %26 = tail call double @llvm.amdgcn.frexp.mant.f64(double %25)
  %27 = fcmp olt double %26, 0x3FE6A09E667F3BCD
  %28 = sext i1 %27 to i32
  %29 = fmul double %26, 2.000000e+00
  %30 = select i1 %27, double %29, double %26
  %31 = fadd double %30, -1.000000e+00
  %32 = fadd double %30, 1.000000e+00
  %33 = fdiv double %31, %32
  %34 = fmul double %33, %33
  %35 = tail call double @llvm.fma.f64(double %34, double 4.000000e-02, double 0x3FA642C8590B2164)
  %36 = tail call double @llvm.fma.f64(double %35, double %34, double 0x3FA8618618618618)
  %37 = tail call double @llvm.fma.f64(double %36, double %34, double 0x3FAAF286BCA1AF28)
  %38 = tail call double @llvm.fma.f64(double %37, double %34, double 0x3FAE1E1E1E1E1E1E)
  %39 = tail call double @llvm.fma.f64(double %38, double %34, double 0x3FB1111111111111)
  %40 = tail call double @llvm.fma.f64(double %39, double %34, double 0x3FB3B13B13B13B14)
  %41 = tail call double @llvm.fma.f64(double %40, double %34, double 0x3FB745D1745D1746)
  %42 = tail call double @llvm.fma.f64(double %41, double %34, double 0x3FBC71C71C71C71C)
  %43 = tail call double @llvm.fma.f64(double %42, double %34, double 0x3FC2492492492492)
  %44 = tail call double @llvm.fma.f64(double %43, double %34, double 2.000000e-01)
  %45 = tail call double @llvm.fma.f64(double %44, double %34, double 0x3FD5555555555555)
  %46 = fpext float %1 to double
  %47 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %25)
  %48 = add nsw i32 %47, %28
  %49 = fcmp oeq float %0, 0.000000e+00
  br i1 %49, label %79, label %50

50:                                               ; preds = %24
  %51 = fcmp uno float %0, 0.000000e+00
  br i1 %51, label %79, label %52

52:                                               ; preds = %50
  %53 = fcmp oeq float %3, 0x7FF0000000000000
  %54 = fmul double %33, 2.000000e+00
  %55 = fmul double %54, 0x3FF71547652B82FE
  %56 = sitofp i32 %48 to double
  %57 = fadd double %55, %56
  %58 = fsub double %56, %57
  %59 = fadd double %55, %58
  %60 = fneg double %55
  %61 = tail call double @llvm.fma.f64(double %54, double 0x3FF71547652B82FE, double %60)
  %62 = fmul double %54, 0x3C7777D0FFDA0D24
  %63 = fadd double %62, %61
  %64 = fmul double %33, %34
  %65 = fneg double %33
  %66 = tail call double @llvm.fma.f64(double %65, double %32, double %31)
  %67 = fsub double %30, %32
  %68 = fadd double %67, 1.000000e+00
  %69 = fmul double %33, %68
  %70 = fsub double %66, %69
  %71 = fdiv double %70, %32
  %72 = tail call double @llvm.fma.f64(double %64, double %45, double %71)
  %73 = fmul double %72, 2.000000e+00
  %74 = fmul double %73, 0x3FF71547652B82FE
  %75 = fadd double %63, %74
  %76 = fadd double %59, %75
  %77 = fadd double %57, %76
  %78 = select i1 %53, double %25, double %77
  br label %79

79:                                               ; preds = %24, %50, %52
  %80 = phi double [ %78, %52 ], [ 0xFFF0000000000000, %24 ], [ 0x7FF8000000000000, %50 ]
  %81 = fmul double %80, %46
  %82 = tail call double @llvm.minnum.f64(double %81, double 3.000000e+02)
  %83 = tail call double @llvm.maxnum.f64(double %82, double -3.000000e+02)
  %84 = tail call double @llvm.rint.f64(double %83)
  %85 = fsub double %83, %84
  %86 = fmul double %85, 0x3FE62E42FEFA39EF
  %87 = fneg double %86
  %88 = tail call double @llvm.fma.f64(double %86, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %89 = tail call double @llvm.fma.f64(double %88, double %86, double 0x3E5AE64567F544E4)
  %90 = tail call double @llvm.fma.f64(double %89, double %86, double 0x3E927E4FB7789F5C)
  %91 = tail call double @llvm.fma.f64(double %90, double %86, double 0x3EC71DE3A556C734)
  %92 = tail call double @llvm.fma.f64(double %91, double %86, double 0x3EFA01A01A01A01A)
  %93 = tail call double @llvm.fma.f64(double %92, double %86, double 0x3F2A01A01A01A01A)
  %94 = tail call double @llvm.fma.f64(double %93, double %86, double 0x3F56C16C16C16C17)
  %95 = tail call double @llvm.fma.f64(double %94, double %86, double 0x3F81111111111111)
  %96 = tail call double @llvm.fma.f64(double %95, double %86, double 0x3FA5555555555555)
  %97 = tail call double @llvm.fma.f64(double %96, double %86, double 0x3FC5555555555555)
  %98 = tail call double @llvm.fma.f64(double %97, double %86, double 5.000000e-01)
  %99 = tail call double @llvm.fma.f64(double %85, double 0x3FE62E42FEFA39EF, double %87)
  %100 = fmul double %86, %86
  %101 = tail call double @llvm.fma.f64(double %100, double %98, double %86)
  %102 = fadd double %101, 1.000000e+00
  %103 = tail call noundef double @llvm.fma.f64(double %99, double %102, double %101)
  %104 = fadd double %103, 1.000000e+00
  %105 = tail call double @llvm.minnum.f64(double %84, double 3.000000e+03)
  %106 = tail call double @llvm.maxnum.f64(double %105, double -3.000000e+03)
  %107 = fptosi double %106 to i32
  %108 = tail call double @llvm.ldexp.f64.i32(double %104, i32 %107)
  %109 = fcmp ogt double %83, 2.000000e+03
  %110 = select i1 %109, double 0x7FF0000000000000, double %108
  %111 = fptrunc double %110 to float
  %112 = tail call i1 @llvm.is.fpclass.f32(float %0, i32 999)
  %113 = or i1 %112, %5
  %114 = tail call float @llvm.copysign.f32(float %111, float %0)
  %115 = select i1 %12, float %114, float %111
  %116 = select i1 %113, float %115, float 0x7FF8000000000000
  br label %117

117:                                              ; preds = %20, %2, %79, %18
  %118 = phi float [ %19, %18 ], [ %116, %79 ], [ 1.000000e+00, %2 ], [ 1.000000e+00, %20 ]
  ret float %118
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.trunc.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i1 @llvm.is.fpclass.f32(float, i32 immarg) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.maxnum.f64(double, double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.copysign.f32(float, float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_powr_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = tail call float @llvm.trunc.f32(float %1)
  %5 = fcmp oeq float %4, %1
  %6 = tail call float @llvm.fabs.f32(float %1)
  %7 = fcmp olt float %6, 0x4170000000000000
  %8 = and i1 %5, %7
  %9 = fptosi float %1 to i32
  %10 = and i32 %9, 1
  %11 = icmp ne i32 %10, 0
  %12 = select i1 %8, i1 %11, i1 false
  %13 = fcmp oeq float %1, 0.000000e+00
  %14 = fcmp oeq float %0, 1.000000e+00
  %15 = or i1 %14, %13
  br i1 %15, label %117, label %16

16:                                               ; preds = %2
  %17 = fcmp uno float %0, %1
  br i1 %17, label %18, label %20

18:                                               ; preds = %16
  %19 = fadd float %0, %1
  br label %117

20:                                               ; preds = %16
  %21 = fcmp oeq float %0, -1.000000e+00
  %22 = fcmp oeq float %6, 0x7FF0000000000000
  %23 = and i1 %21, %22
  br i1 %23, label %117, label %24

24:                                               ; preds = %20
  %25 = fpext float %3 to double
  %26 = tail call double @llvm.amdgcn.frexp.mant.f64(double %25)
  %27 = fcmp olt double %26, 0x3FE6A09E667F3BCD
  %28 = sext i1 %27 to i32
  %29 = fmul double %26, 2.000000e+00
  %30 = select i1 %27, double %29, double %26
  %31 = fadd double %30, -1.000000e+00
  %32 = fadd double %30, 1.000000e+00
  %33 = fdiv double %31, %32
  %34 = fmul double %33, %33
  %35 = tail call double @llvm.fma.f64(double %34, double 4.000000e-02, double 0x3FA642C8590B2164)
  %36 = tail call double @llvm.fma.f64(double %35, double %34, double 0x3FA8618618618618)
  %37 = tail call double @llvm.fma.f64(double %36, double %34, double 0x3FAAF286BCA1AF28)
  %38 = tail call double @llvm.fma.f64(double %37, double %34, double 0x3FAE1E1E1E1E1E1E)
  %39 = tail call double @llvm.fma.f64(double %38, double %34, double 0x3FB1111111111111)
  %40 = tail call double @llvm.fma.f64(double %39, double %34, double 0x3FB3B13B13B13B14)
  %41 = tail call double @llvm.fma.f64(double %40, double %34, double 0x3FB745D1745D1746)
  %42 = tail call double @llvm.fma.f64(double %41, double %34, double 0x3FBC71C71C71C71C)
  %43 = tail call double @llvm.fma.f64(double %42, double %34, double 0x3FC2492492492492)
  %44 = tail call double @llvm.fma.f64(double %43, double %34, double 2.000000e-01)
  %45 = tail call double @llvm.fma.f64(double %44, double %34, double 0x3FD5555555555555)
  %46 = fpext float %1 to double
  %47 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %25)
  %48 = add nsw i32 %47, %28
  %49 = fcmp oeq float %0, 0.000000e+00
  br i1 %49, label %79, label %50

50:                                               ; preds = %24
  %51 = fcmp uno float %0, 0.000000e+00
  br i1 %51, label %79, label %52

52:                                               ; preds = %50
  %53 = fcmp oeq float %3, 0x7FF0000000000000
  %54 = fmul double %33, 2.000000e+00
  %55 = fmul double %54, 0x3FF71547652B82FE
  %56 = sitofp i32 %48 to double
  %57 = fadd double %55, %56
  %58 = fsub double %56, %57
  %59 = fadd double %55, %58
  %60 = fneg double %55
  %61 = tail call double @llvm.fma.f64(double %54, double 0x3FF71547652B82FE, double %60)
  %62 = fmul double %54, 0x3C7777D0FFDA0D24
  %63 = fadd double %62, %61
  %64 = fmul double %33, %34
  %65 = fneg double %33
  %66 = tail call double @llvm.fma.f64(double %65, double %32, double %31)
  %67 = fsub double %30, %32
  %68 = fadd double %67, 1.000000e+00
  %69 = fmul double %33, %68
  %70 = fsub double %66, %69
  %71 = fdiv double %70, %32
  %72 = tail call double @llvm.fma.f64(double %64, double %45, double %71)
  %73 = fmul double %72, 2.000000e+00
  %74 = fmul double %73, 0x3FF71547652B82FE
  %75 = fadd double %63, %74
  %76 = fadd double %59, %75
  %77 = fadd double %57, %76
  %78 = select i1 %53, double %25, double %77
  br label %79

79:                                               ; preds = %52, %50, %24
  %80 = phi double [ %78, %52 ], [ 0xFFF0000000000000, %24 ], [ 0x7FF8000000000000, %50 ]
  %81 = fmul double %80, %46
  %82 = tail call double @llvm.minnum.f64(double %81, double 3.000000e+02)
  %83 = tail call double @llvm.maxnum.f64(double %82, double -3.000000e+02)
  %84 = tail call double @llvm.rint.f64(double %83)
  %85 = fsub double %83, %84
  %86 = fmul double %85, 0x3FE62E42FEFA39EF
  %87 = fneg double %86
  %88 = tail call double @llvm.fma.f64(double %86, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %89 = tail call double @llvm.fma.f64(double %88, double %86, double 0x3E5AE64567F544E4)
  %90 = tail call double @llvm.fma.f64(double %89, double %86, double 0x3E927E4FB7789F5C)
  %91 = tail call double @llvm.fma.f64(double %90, double %86, double 0x3EC71DE3A556C734)
  %92 = tail call double @llvm.fma.f64(double %91, double %86, double 0x3EFA01A01A01A01A)
  %93 = tail call double @llvm.fma.f64(double %92, double %86, double 0x3F2A01A01A01A01A)
  %94 = tail call double @llvm.fma.f64(double %93, double %86, double 0x3F56C16C16C16C17)
  %95 = tail call double @llvm.fma.f64(double %94, double %86, double 0x3F81111111111111)
  %96 = tail call double @llvm.fma.f64(double %95, double %86, double 0x3FA5555555555555)
  %97 = tail call double @llvm.fma.f64(double %96, double %86, double 0x3FC5555555555555)
  %98 = tail call double @llvm.fma.f64(double %97, double %86, double 5.000000e-01)
  %99 = tail call double @llvm.fma.f64(double %85, double 0x3FE62E42FEFA39EF, double %87)
  %100 = fmul double %86, %86
  %101 = tail call double @llvm.fma.f64(double %100, double %98, double %86)
  %102 = fadd double %101, 1.000000e+00
  %103 = tail call noundef double @llvm.fma.f64(double %99, double %102, double %101)
  %104 = fadd double %103, 1.000000e+00
  %105 = tail call double @llvm.minnum.f64(double %84, double 3.000000e+03)
  %106 = tail call double @llvm.maxnum.f64(double %105, double -3.000000e+03)
  %107 = fptosi double %106 to i32
  %108 = tail call double @llvm.ldexp.f64.i32(double %104, i32 %107)
  %109 = fcmp ogt double %83, 2.000000e+03
  %110 = select i1 %109, double 0x7FF0000000000000, double %108
  %111 = fptrunc double %110 to float
  %112 = tail call i1 @llvm.is.fpclass.f32(float %0, i32 999)
  %113 = or i1 %112, %5
  %114 = tail call float @llvm.copysign.f32(float %111, float %0)
  %115 = select i1 %12, float %114, float %111
  %116 = select i1 %113, float %115, float 0x7FF8000000000000
  br label %117

117:                                              ; preds = %2, %18, %20, %79
  %118 = phi float [ %19, %18 ], [ %116, %79 ], [ 1.000000e+00, %2 ], [ 1.000000e+00, %20 ]
  ret float %118
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_pown_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = sitofp i32 %1 to float
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = tail call float @llvm.fabs.f32(float %3)
  %6 = fcmp olt float %5, 0x4170000000000000
  %7 = fptosi float %3 to i32
  %8 = and i32 %7, 1
  %9 = icmp ne i32 %8, 0
  %10 = select i1 %6, i1 %9, i1 false
  %11 = icmp eq i32 %1, 0
  %12 = fcmp oeq float %0, 1.000000e+00
  %13 = or i1 %12, %11
  br i1 %13, label %106, label %14

14:                                               ; preds = %2
  %15 = fcmp uno float %0, 0.000000e+00
  br i1 %15, label %16, label %18

16:                                               ; preds = %14
  %17 = fadd float %3, %0
  br label %106

18:                                               ; preds = %14
  %19 = fpext float %3 to double
  %20 = fcmp oeq float %0, 0.000000e+00
  br i1 %20, label %71, label %21

21:                                               ; preds = %18
  %22 = fpext float %4 to double
  %23 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %22)
  %24 = tail call double @llvm.amdgcn.frexp.mant.f64(double %22)
  %25 = fcmp olt double %24, 0x3FE6A09E667F3BCD
  %26 = sext i1 %25 to i32
  %27 = add nsw i32 %23, %26
  %28 = fmul double %24, 2.000000e+00
  %29 = select i1 %25, double %28, double %24
  %30 = fadd double %29, -1.000000e+00
  %31 = fadd double %29, 1.000000e+00
  %32 = fdiv double %30, %31
  %33 = fmul double %32, %32
  %34 = tail call double @llvm.fma.f64(double %33, double 4.000000e-02, double 0x3FA642C8590B2164)
  %35 = tail call double @llvm.fma.f64(double %34, double %33, double 0x3FA8618618618618)
  %36 = tail call double @llvm.fma.f64(double %35, double %33, double 0x3FAAF286BCA1AF28)
  %37 = tail call double @llvm.fma.f64(double %36, double %33, double 0x3FAE1E1E1E1E1E1E)
  %38 = tail call double @llvm.fma.f64(double %37, double %33, double 0x3FB1111111111111)
  %39 = tail call double @llvm.fma.f64(double %38, double %33, double 0x3FB3B13B13B13B14)
  %40 = tail call double @llvm.fma.f64(double %39, double %33, double 0x3FB745D1745D1746)
  %41 = tail call double @llvm.fma.f64(double %40, double %33, double 0x3FBC71C71C71C71C)
  %42 = tail call double @llvm.fma.f64(double %41, double %33, double 0x3FC2492492492492)
  %43 = tail call double @llvm.fma.f64(double %42, double %33, double 2.000000e-01)
  %44 = tail call double @llvm.fma.f64(double %43, double %33, double 0x3FD5555555555555)
  %45 = fcmp oeq float %4, 0x7FF0000000000000
  %46 = fmul double %32, 2.000000e+00
  %47 = fmul double %46, 0x3FF71547652B82FE
  %48 = sitofp i32 %27 to double
  %49 = fadd double %47, %48
  %50 = fsub double %48, %49
  %51 = fadd double %47, %50
  %52 = fneg double %47
  %53 = tail call double @llvm.fma.f64(double %46, double 0x3FF71547652B82FE, double %52)
  %54 = fmul double %46, 0x3C7777D0FFDA0D24
  %55 = fadd double %54, %53
  %56 = fmul double %32, %33
  %57 = fneg double %32
  %58 = tail call double @llvm.fma.f64(double %57, double %31, double %30)
  %59 = fsub double %29, %31
  %60 = fadd double %59, 1.000000e+00
  %61 = fmul double %32, %60
  %62 = fsub double %58, %61
  %63 = fdiv double %62, %31
  %64 = tail call double @llvm.fma.f64(double %56, double %44, double %63)
  %65 = fmul double %64, 2.000000e+00
  %66 = fmul double %65, 0x3FF71547652B82FE
  %67 = fadd double %55, %66
  %68 = fadd double %51, %67
  %69 = fadd double %49, %68
  %70 = select i1 %45, double %22, double %69
  br label %71

71:                                               ; preds = %21, %18
  %72 = phi double [ %70, %21 ], [ 0xFFF0000000000000, %18 ]
  %73 = fmul double %72, %19
  %74 = tail call double @llvm.minnum.f64(double %73, double 3.000000e+02)
  %75 = tail call double @llvm.maxnum.f64(double %74, double -3.000000e+02)
  %76 = tail call double @llvm.rint.f64(double %75)
  %77 = fsub double %75, %76
  %78 = fmul double %77, 0x3FE62E42FEFA39EF
  %79 = fneg double %78
  %80 = tail call double @llvm.fma.f64(double %78, double 0x3DE6124613A86D09, double 0x3E21EED8EFF8D898)
  %81 = tail call double @llvm.fma.f64(double %80, double %78, double 0x3E5AE64567F544E4)
  %82 = tail call double @llvm.fma.f64(double %81, double %78, double 0x3E927E4FB7789F5C)
  %83 = tail call double @llvm.fma.f64(double %82, double %78, double 0x3EC71DE3A556C734)
  %84 = tail call double @llvm.fma.f64(double %83, double %78, double 0x3EFA01A01A01A01A)
  %85 = tail call double @llvm.fma.f64(double %84, double %78, double 0x3F2A01A01A01A01A)
  %86 = tail call double @llvm.fma.f64(double %85, double %78, double 0x3F56C16C16C16C17)
  %87 = tail call double @llvm.fma.f64(double %86, double %78, double 0x3F81111111111111)
  %88 = tail call double @llvm.fma.f64(double %87, double %78, double 0x3FA5555555555555)
  %89 = tail call double @llvm.fma.f64(double %88, double %78, double 0x3FC5555555555555)
  %90 = tail call double @llvm.fma.f64(double %89, double %78, double 5.000000e-01)
  %91 = tail call double @llvm.fma.f64(double %77, double 0x3FE62E42FEFA39EF, double %79)
  %92 = fmul double %78, %78
  %93 = tail call double @llvm.fma.f64(double %92, double %90, double %78)
  %94 = fadd double %93, 1.000000e+00
  %95 = tail call noundef double @llvm.fma.f64(double %91, double %94, double %93)
  %96 = fadd double %95, 1.000000e+00
  %97 = tail call double @llvm.minnum.f64(double %76, double 3.000000e+03)
  %98 = tail call double @llvm.maxnum.f64(double %97, double -3.000000e+03)
  %99 = fptosi double %98 to i32
  %100 = tail call double @llvm.ldexp.f64.i32(double %96, i32 %99)
  %101 = fcmp ogt double %75, 2.000000e+03
  %102 = select i1 %101, double 0x7FF0000000000000, double %100
  %103 = fptrunc double %102 to float
  %104 = tail call float @llvm.copysign.f32(float %103, float %0)
  %105 = select i1 %10, float %104, float %103
  br label %106

106:                                              ; preds = %2, %16, %71
  %107 = phi float [ %17, %16 ], [ %105, %71 ], [ 1.000000e+00, %2 ]
  ret float %107
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.amdgcn.frexp.mant.f64(double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.frexp.exp.i32.f64(double) #1

attributes #0 = { alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none) "amdgpu-no-agpr" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 2}
