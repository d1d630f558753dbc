; ModuleID = 'arcs.hip'
source_filename = "arcs.hip"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_atan_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fcmp uno double %0, 0.000000e+00
  br i1 %2, label %49, label %3

3:                                                ; preds = %1
  %4 = tail call double @llvm.fabs.f64(double %0)
  %5 = fcmp ogt double %4, 0x4003504F333F9DE6
  br i1 %5, label %6, label %8

6:                                                ; preds = %3
  %7 = fdiv double -1.000000e+00, %4
  br label %14

8:                                                ; preds = %3
  %9 = fcmp ogt double %4, 0x3FDA827999FCEF32
  br i1 %9, label %10, label %14

10:                                               ; preds = %8
  %11 = fadd double %4, -1.000000e+00
  %12 = fadd double %4, 1.000000e+00
  %13 = fdiv double %11, %12
  br label %14

14:                                               ; preds = %10, %8, %6
  %15 = phi double [ 5.000000e-01, %6 ], [ 0.000000e+00, %8 ], [ 2.500000e-01, %10 ]
  %16 = phi double [ %7, %6 ], [ %4, %8 ], [ %13, %10 ]
  %17 = fneg double %16
  %18 = fmul double %16, %17
  %19 = tail call double @llvm.fma.f64(double %18, double 0x3F96C16C16C16C17, double 0x3F97D05F417D05F4)
  %20 = tail call double @llvm.fma.f64(double %19, double %18, double 0x3F98F9C18F9C18FA)
  %21 = tail call double @llvm.fma.f64(double %20, double %18, double 0x3F9A41A41A41A41A)
  %22 = tail call double @llvm.fma.f64(double %21, double %18, double 0x3F9BACF914C1BAD0)
  %23 = tail call double @llvm.fma.f64(double %22, double %18, double 0x3F9D41D41D41D41D)
  %24 = tail call double @llvm.fma.f64(double %23, double %18, double 0x3F9F07C1F07C1F08)
  %25 = tail call double @llvm.fma.f64(double %24, double %18, double 0x3FA0842108421084)
  %26 = tail call double @llvm.fma.f64(double %25, double %18, double 0x3FA1A7B9611A7B96)
  %27 = tail call double @llvm.fma.f64(double %26, double %18, double 0x3FA2F684BDA12F68)
  %28 = tail call double @llvm.fma.f64(double %27, double %18, double 4.000000e-02)
  %29 = tail call double @llvm.fma.f64(double %28, double %18, double 0x3FA642C8590B2164)
  %30 = tail call double @llvm.fma.f64(double %29, double %18, double 0x3FA8618618618618)
  %31 = tail call double @llvm.fma.f64(double %30, double %18, double 0x3FAAF286BCA1AF28)
  %32 = tail call double @llvm.fma.f64(double %31, double %18, double 0x3FAE1E1E1E1E1E1E)
  %33 = tail call double @llvm.fma.f64(double %32, double %18, double 0x3FB1111111111111)
  %34 = tail call double @llvm.fma.f64(double %33, double %18, double 0x3FB3B13B13B13B14)
  %35 = tail call double @llvm.fma.f64(double %34, double %18, double 0x3FB745D1745D1746)
  %36 = tail call double @llvm.fma.f64(double %35, double %18, double 0x3FBC71C71C71C71C)
  %37 = tail call double @llvm.fma.f64(double %36, double %18, double 0x3FC2492492492492)
  %38 = tail call double @llvm.fma.f64(double %37, double %18, double 2.000000e-01)
  %39 = tail call double @llvm.fma.f64(double %38, double %18, double 0x3FD5555555555555)
  %40 = fmul double %39, %18
  %41 = tail call double @llvm.fma.f64(double %40, double %16, double %16)
  %42 = fcmp oeq double %15, 0.000000e+00
  %43 = fmul double %15, 0x400921FB54442D18
  %44 = fmul double %15, 0x3CA1A62633145C07
  %45 = fadd double %44, %41
  %46 = fadd double %43, %45
  %47 = select i1 %42, double %41, double %46
  %48 = tail call double @llvm.copysign.f64(double %47, double %0)
  br label %49

49:                                               ; preds = %1, %14
  %50 = phi double [ %48, %14 ], [ %0, %1 ]
  ret double %50
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.copysign.f64(double, double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_atan2_f64(double noundef %0, double noundef %1) local_unnamed_addr #0 {
  %3 = fcmp uno double %1, %0
  br i1 %3, label %4, label %6

4:                                                ; preds = %2
  %5 = fadd double %0, %1
  br label %80

6:                                                ; preds = %2
  %7 = tail call double @llvm.fabs.f64(double %1)
  %8 = tail call double @llvm.fabs.f64(double %0)
  %9 = fcmp oeq double %8, 0x7FF0000000000000
  %10 = fcmp oeq double %7, 0x7FF0000000000000
  %11 = and i1 %9, %10
  %12 = select i1 %11, double 1.000000e+00, double %8
  %13 = select i1 %11, double 1.000000e+00, double %7
  %14 = fcmp oeq double %12, 0.000000e+00
  %15 = fcmp oeq double %13, 0.000000e+00
  %16 = and i1 %14, %15
  %17 = select i1 %16, double 1.000000e+00, double %13
  %18 = fdiv double %12, %17
  %19 = fcmp ogt double %18, 0x4003504F333F9DE6
  br i1 %19, label %20, label %23

20:                                               ; preds = %6
  %21 = fneg double %17
  %22 = fdiv double %21, %12
  br label %37

23:                                               ; preds = %6
  %24 = fcmp ogt double %18, 0x3FDA827999FCEF32
  br i1 %24, label %25, label %37

25:                                               ; preds = %23
  %26 = fcmp ogt double %17, 1.000000e+300
  br i1 %26, label %27, label %33

27:                                               ; preds = %25
  %28 = fmul double %12, 1.250000e-01
  %29 = fmul double %17, 1.250000e-01
  %30 = fsub double %28, %29
  %31 = fadd double %28, %29
  %32 = fdiv double %30, %31
  br label %37

33:                                               ; preds = %25
  %34 = fsub double %12, %17
  %35 = fadd double %12, %17
  %36 = fdiv double %34, %35
  br label %37

37:                                               ; preds = %33, %27, %23, %20
  %38 = phi double [ 5.000000e-01, %20 ], [ 0.000000e+00, %23 ], [ 2.500000e-01, %33 ], [ 2.500000e-01, %27 ]
  %39 = phi double [ %22, %20 ], [ %18, %23 ], [ %36, %33 ], [ %32, %27 ]
  %40 = fneg double %39
  %41 = fmul double %39, %40
  %42 = tail call double @llvm.fma.f64(double %41, double 0x3F96C16C16C16C17, double 0x3F97D05F417D05F4)
  %43 = tail call double @llvm.fma.f64(double %42, double %41, double 0x3F98F9C18F9C18FA)
  %44 = tail call double @llvm.fma.f64(double %43, double %41, double 0x3F9A41A41A41A41A)
  %45 = tail call double @llvm.fma.f64(double %44, double %41, double 0x3F9BACF914C1BAD0)
  %46 = tail call double @llvm.fma.f64(double %45, double %41, double 0x3F9D41D41D41D41D)
  %47 = tail call double @llvm.fma.f64(double %46, double %41, double 0x3F9F07C1F07C1F08)
  %48 = tail call double @llvm.fma.f64(double %47, double %41, double 0x3FA0842108421084)
  %49 = tail call double @llvm.fma.f64(double %48, double %41, double 0x3FA1A7B9611A7B96)
  %50 = tail call double @llvm.fma.f64(double %49, double %41, double 0x3FA2F684BDA12F68)
  %51 = tail call double @llvm.fma.f64(double %50, double %41, double 4.000000e-02)
  %52 = tail call double @llvm.fma.f64(double %51, double %41, double 0x3FA642C8590B2164)
  %53 = tail call double @llvm.fma.f64(double %52, double %41, double 0x3FA8618618618618)
  %54 = tail call double @llvm.fma.f64(double %53, double %41, double 0x3FAAF286BCA1AF28)
  %55 = tail call double @llvm.fma.f64(double %54, double %41, double 0x3FAE1E1E1E1E1E1E)
  %56 = tail call double @llvm.fma.f64(double %55, double %41, double 0x3FB1111111111111)
  %57 = tail call double @llvm.fma.f64(double %56, double %41, double 0x3FB3B13B13B13B14)
  %58 = tail call double @llvm.fma.f64(double %57, double %41, double 0x3FB745D1745D1746)
  %59 = tail call double @llvm.fma.f64(double %58, double %41, double 0x3FBC71C71C71C71C)
  %60 = tail call double @llvm.fma.f64(double %59, double %41, double 0x3FC2492492492492)
  %61 = tail call double @llvm.fma.f64(double %60, double %41, double 2.000000e-01)
  %62 = tail call double @llvm.fma.f64(double %61, double %41, double 0x3FD5555555555555)
  %63 = fmul double %62, %41
  %64 = tail call double @llvm.fma.f64(double %63, double %39, double %39)
  %65 = fcmp oeq double %38, 0.000000e+00
  %66 = fmul double %38, 0x400921FB54442D18
  %67 = fmul double %38, 0x3CA1A62633145C07
  %68 = fadd double %67, %64
  %69 = fadd double %66, %68
  %70 = select i1 %65, double %64, double %69
  %71 = bitcast double %1 to i64
  %72 = icmp sgt i64 %71, -1
  %73 = tail call double @llvm.fabs.f64(double %18)
  %74 = fcmp oeq double %73, 0x7FF0000000000000
  %75 = or i1 %72, %74
  %76 = fadd double %70, 0xBCA1A62633145C07
  %77 = fsub double 0x400921FB54442D18, %76
  %78 = select i1 %75, double %70, double %77
  %79 = tail call double @llvm.copysign.f64(double %78, double %0)
  br label %80

80:                                               ; preds = %37, %4
  %81 = phi double [ %5, %4 ], [ %79, %37 ]
  ret double %81
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_asin_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp ogt double %2, 1.000000e+00
  br i1 %3, label %65, label %4

4:                                                ; preds = %1
  %5 = fcmp uno double %0, 0.000000e+00
  br i1 %5, label %65, label %6

6:                                                ; preds = %4
  %7 = fsub double 1.000000e+00, %2
  %8 = fadd double %2, 1.000000e+00
  %9 = fmul double %7, %8
  %10 = tail call double @llvm.sqrt.f64(double %9)
  %11 = fdiv double %2, %10
  %12 = fcmp ogt double %11, 0x4003504F333F9DE6
  br i1 %12, label %13, label %16

13:                                               ; preds = %6
  %14 = fneg double %10
  %15 = fdiv double %14, %2
  br label %30

16:                                               ; preds = %6
  %17 = fcmp ogt double %11, 0x3FDA827999FCEF32
  br i1 %17, label %18, label %30

18:                                               ; preds = %16
  %19 = fcmp ogt double %10, 1.000000e+300
  br i1 %19, label %20, label %26

20:                                               ; preds = %18
  %21 = fmul double %2, 1.250000e-01
  %22 = fmul double %10, 1.250000e-01
  %23 = fsub double %21, %22
  %24 = fadd double %21, %22
  %25 = fdiv double %23, %24
  br label %30

26:                                               ; preds = %18
  %27 = fsub double %2, %10
  %28 = fadd double %2, %10
  %29 = fdiv double %27, %28
  br label %30

30:                                               ; preds = %26, %20, %16, %13
  %31 = phi double [ 5.000000e-01, %13 ], [ 0.000000e+00, %16 ], [ 2.500000e-01, %26 ], [ 2.500000e-01, %20 ]
  %32 = phi double [ %15, %13 ], [ %11, %16 ], [ %29, %26 ], [ %25, %20 ]
  %33 = fneg double %32
  %34 = fmul double %32, %33
  %35 = tail call double @llvm.fma.f64(double %34, double 0x3F96C16C16C16C17, double 0x3F97D05F417D05F4)
  %36 = tail call double @llvm.fma.f64(double %35, double %34, double 0x3F98F9C18F9C18FA)
  %37 = tail call double @llvm.fma.f64(double %36, double %34, double 0x3F9A41A41A41A41A)
  %38 = tail call double @llvm.fma.f64(double %37, double %34, double 0x3F9BACF914C1BAD0)
  %39 = tail call double @llvm.fma.f64(double %38, double %34, double 0x3F9D41D41D41D41D)
  %40 = tail call double @llvm.fma.f64(double %39, double %34, double 0x3F9F07C1F07C1F08)
  %41 = tail call double @llvm.fma.f64(double %40, double %34, double 0x3FA0842108421084)
  %42 = tail call double @llvm.fma.f64(double %41, double %34, double 0x3FA1A7B9611A7B96)
  %43 = tail call double @llvm.fma.f64(double %42, double %34, double 0x3FA2F684BDA12F68)
  %44 = tail call double @llvm.fma.f64(double %43, double %34, double 4.000000e-02)
  %45 = tail call double @llvm.fma.f64(double %44, double %34, double 0x3FA642C8590B2164)
  %46 = tail call double @llvm.fma.f64(double %45, double %34, double 0x3FA8618618618618)
  %47 = tail call double @llvm.fma.f64(double %46, double %34, double 0x3FAAF286BCA1AF28)
  %48 = tail call double @llvm.fma.f64(double %47, double %34, double 0x3FAE1E1E1E1E1E1E)
  %49 = tail call double @llvm.fma.f64(double %48, double %34, double 0x3FB1111111111111)
  %50 = tail call double @llvm.fma.f64(double %49, double %34, double 0x3FB3B13B13B13B14)
  %51 = tail call double @llvm.fma.f64(double %50, double %34, double 0x3FB745D1745D1746)
  %52 = tail call double @llvm.fma.f64(double %51, double %34, double 0x3FBC71C71C71C71C)
  %53 = tail call double @llvm.fma.f64(double %52, double %34, double 0x3FC2492492492492)
  %54 = tail call double @llvm.fma.f64(double %53, double %34, double 2.000000e-01)
  %55 = tail call double @llvm.fma.f64(double %54, double %34, double 0x3FD5555555555555)
  %56 = fmul double %55, %34
  %57 = tail call double @llvm.fma.f64(double %56, double %32, double %32)
  %58 = fcmp oeq double %31, 0.000000e+00
  %59 = fmul double %31, 0x400921FB54442D18
  %60 = fmul double %31, 0x3CA1A62633145C07
  %61 = fadd double %60, %57
  %62 = fadd double %59, %61
  %63 = select i1 %58, double %57, double %62
  %64 = tail call double @llvm.copysign.f64(double %63, double %0)
  br label %65

65:                                               ; preds = %30, %4, %1
  %66 = phi double [ 0x7FF8000000000000, %1 ], [ %64, %30 ], [ %0, %4 ]
  ret double %66
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden double @__ocml_acos_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp ogt double %2, 1.000000e+00
  br i1 %3, label %65, label %4

4:                                                ; preds = %1
  %5 = fcmp uno double %0, 0.000000e+00
  br i1 %5, label %65, label %6

6:                                                ; preds = %4
  %7 = fsub double 1.000000e+00, %0
  %8 = tail call double @llvm.sqrt.f64(double %7)
  %9 = fadd double %0, 1.000000e+00
  %10 = tail call double @llvm.sqrt.f64(double %9)
  %11 = fdiv double %8, %10
  %12 = fcmp ogt double %11, 0x4003504F333F9DE6
  br i1 %12, label %13, label %16

13:                                               ; preds = %6
  %14 = fneg double %10
  %15 = fdiv double %14, %8
  br label %30

16:                                               ; preds = %6
  %17 = fcmp ogt double %11, 0x3FDA827999FCEF32
  br i1 %17, label %18, label %30

18:                                               ; preds = %16
  %19 = fcmp ogt double %10, 1.000000e+300
  br i1 %19, label %20, label %26

20:                                               ; preds = %18
  %21 = fmul double %8, 1.250000e-01
  %22 = fmul double %10, 1.250000e-01
  %23 = fsub double %21, %22
  %24 = fadd double %21, %22
  %25 = fdiv double %23, %24
  br label %30

26:                                               ; preds = %18
  %27 = fsub double %8, %10
  %28 = fadd double %8, %10
  %29 = fdiv double %27, %28
  br label %30

30:                                               ; preds = %26, %20, %16, %13
  %31 = phi double [ 5.000000e-01, %13 ], [ 0.000000e+00, %16 ], [ 2.500000e-01, %26 ], [ 2.500000e-01, %20 ]
  %32 = phi double [ %15, %13 ], [ %11, %16 ], [ %29, %26 ], [ %25, %20 ]
  %33 = fneg double %32
  %34 = fmul double %32, %33
  %35 = tail call double @llvm.fma.f64(double %34, double 0x3F96C16C16C16C17, double 0x3F97D05F417D05F4)
  %36 = tail call double @llvm.fma.f64(double %35, double %34, double 0x3F98F9C18F9C18FA)
  %37 = tail call double @llvm.fma.f64(double %36, double %34, double 0x3F9A41A41A41A41A)
  %38 = tail call double @llvm.fma.f64(double %37, double %34, double 0x3F9BACF914C1BAD0)
  %39 = tail call double @llvm.fma.f64(double %38, double %34, double 0x3F9D41D41D41D41D)
  %40 = tail call double @llvm.fma.f64(double %39, double %34, double 0x3F9F07C1F07C1F08)
  %41 = tail call double @llvm.fma.f64(double %40, double %34, double 0x3FA0842108421084)
  %42 = tail call double @llvm.fma.f64(double %41, double %34, double 0x3FA1A7B9611A7B96)
  %43 = tail call double @llvm.fma.f64(double %42, double %34, double 0x3FA2F684BDA12F68)
  %44 = tail call double @llvm.fma.f64(double %43, double %34, double 4.000000e-02)
  %45 = tail call double @llvm.fma.f64(double %44, double %34, double 0x3FA642C8590B2164)
  %46 = tail call double @llvm.fma.f64(double %45, double %34, double 0x3FA8618618618618)
  %47 = tail call double @llvm.fma.f64(double %46, double %34, double 0x3FAAF286BCA1AF28)
  %48 = tail call double @llvm.fma.f64(double %47, double %34, double 0x3FAE1E1E1E1E1E1E)
  %49 = tail call double @llvm.fma.f64(double %48, double %34, double 0x3FB1111111111111)
  %50 = tail call double @llvm.fma.f64(double %49, double %34, double 0x3FB3B13B13B13B14)
  %51 = tail call double @llvm.fma.f64(double %50, double %34, double 0x3FB745D1745D1746)
  %52 = tail call double @llvm.fma.f64(double %51, double %34, double 0x3FBC71C71C71C71C)
  %53 = tail call double @llvm.fma.f64(double %52, double %34, double 0x3FC2492492492492)
  %54 = tail call double @llvm.fma.f64(double %53, double %34, double 2.000000e-01)
  %55 = tail call double @llvm.fma.f64(double %54, double %34, double 0x3FD5555555555555)
  %56 = fmul double %55, %34
  %57 = tail call double @llvm.fma.f64(double %56, double %32, double %32)
  %58 = fcmp oeq double %31, 0.000000e+00
  %59 = fmul double %31, 0x400921FB54442D18
  %60 = fmul double %31, 0x3CA1A62633145C07
  %61 = fadd double %60, %57
  %62 = fadd double %59, %61
  %63 = select i1 %58, double %57, double %62
  %64 = fmul double %63, 2.000000e+00
  br label %65

65:                                               ; preds = %30, %4, %1
  %66 = phi double [ 0x7FF8000000000000, %1 ], [ %64, %30 ], [ %0, %4 ]
  ret double %66
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_sinh_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = tail call double @llvm.minnum.f64(double %2, double 7.000000e+02)
  %4 = tail call double @__ocml_expm1_f64(double noundef %3) #4
  %5 = fadd double %4, 1.000000e+00
  %6 = fdiv double %4, %5
  %7 = fadd double %4, %6
  %8 = fmul double %7, 5.000000e-01
  %9 = fmul double %2, 5.000000e-01
  %10 = tail call double @__ocml_exp_f64(double noundef %9) #4
  %11 = fcmp uno double %0, 0.000000e+00
  %12 = fcmp olt double %2, 7.000000e+02
  %13 = fmul double %10, 5.000000e-01
  %14 = fmul double %10, %13
  %15 = select i1 %12, double %8, double %14
  %16 = tail call double @llvm.copysign.f64(double %15, double %0)
  %17 = select i1 %11, double %0, double %16
  ret double %17
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_expm1_f64(double noundef) local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.minnum.f64(double, double) #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_exp_f64(double noundef) local_unnamed_addr #3

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_cosh_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = tail call double @llvm.minnum.f64(double %2, double 7.000000e+02)
  %4 = tail call double @__ocml_exp_f64(double noundef %3) #4
  %5 = fmul double %2, 5.000000e-01
  %6 = tail call double @__ocml_exp_f64(double noundef %5) #4
  %7 = fcmp uno double %0, 0.000000e+00
  br i1 %7, label %17, label %8

8:                                                ; preds = %1
  %9 = fcmp olt double %2, 7.000000e+02
  br i1 %9, label %10, label %14

10:                                               ; preds = %8
  %11 = fdiv double 1.000000e+00, %4
  %12 = fadd double %4, %11
  %13 = fmul double %12, 5.000000e-01
  br label %17

14:                                               ; preds = %8
  %15 = fmul double %6, 5.000000e-01
  %16 = fmul double %6, %15
  br label %17

17:                                               ; preds = %1, %10, %14
  %18 = phi double [ %13, %10 ], [ %16, %14 ], [ %0, %1 ]
  ret double %18
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_asinh_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp olt double %2, 1.000000e+08
  br i1 %3, label %4, label %12

4:                                                ; preds = %1
  %5 = fmul double %0, %0
  %6 = fadd double %5, 1.000000e+00
  %7 = tail call double @llvm.sqrt.f64(double %6)
  %8 = fadd double %7, 1.000000e+00
  %9 = fdiv double %5, %8
  %10 = fadd double %2, %9
  %11 = tail call double @__ocml_log1p_f64(double noundef %10) #4
  br label %15

12:                                               ; preds = %1
  %13 = tail call double @__ocml_log_f64(double noundef %2) #4
  %14 = fadd double %13, 0x3FE62E42FEFA39EF
  br label %15

15:                                               ; preds = %12, %4
  %16 = phi double [ %11, %4 ], [ %14, %12 ]
  %17 = fcmp uno double %0, 0.000000e+00
  %18 = tail call double @llvm.copysign.f64(double %16, double %0)
  %19 = select i1 %17, double %0, double %18
  ret double %19
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_log1p_f64(double noundef) local_unnamed_addr #3

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_log_f64(double noundef) local_unnamed_addr #3

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_acosh_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = fadd double %0, -1.000000e+00
  %3 = fcmp olt double %0, 1.000000e+00
  br i1 %3, label %15, label %4

4:                                                ; preds = %1
  %5 = fcmp olt double %0, 1.000000e+08
  br i1 %5, label %6, label %12

6:                                                ; preds = %4
  %7 = fadd double %0, 1.000000e+00
  %8 = fmul double %2, %7
  %9 = tail call double @llvm.sqrt.f64(double %8)
  %10 = fadd double %2, %9
  %11 = tail call double @__ocml_log1p_f64(double noundef %10) #4
  br label %15

12:                                               ; preds = %4
  %13 = tail call double @__ocml_log_f64(double noundef %0) #4
  %14 = fadd double %13, 0x3FE62E42FEFA39EF
  br label %15

15:                                               ; preds = %6, %12, %1
  %16 = phi double [ 0x7FF8000000000000, %1 ], [ %11, %6 ], [ %14, %12 ]
  ret double %16
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_atanh_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp ogt double %2, 1.000000e+00
  br i1 %3, label %13, label %4

4:                                                ; preds = %1
  %5 = fcmp uno double %0, 0.000000e+00
  br i1 %5, label %13, label %6

6:                                                ; preds = %4
  %7 = fmul double %2, 2.000000e+00
  %8 = fsub double 1.000000e+00, %2
  %9 = fdiv double %7, %8
  %10 = tail call double @__ocml_log1p_f64(double noundef %9) #4
  %11 = fmul double %10, 5.000000e-01
  %12 = tail call double @llvm.copysign.f64(double %11, double %0)
  br label %13

13:                                               ; preds = %6, %4, %1
  %14 = phi double [ 0x7FF8000000000000, %1 ], [ %12, %6 ], [ %0, %4 ]
  ret double %14
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #1

attributes #0 = { alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none) "amdgpu-no-agpr" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { alwaysinline convergent mustprogress nofree nounwind willreturn memory(none) "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #3 = { convergent mustprogress nofree nounwind willreturn memory(none) "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #4 = { convergent nounwind willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 2}
