; ModuleID = 'float.hip'
source_filename = "float.hip"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__const._ZL10kc_reducedf.words = private unnamed_addr addrspace(4) constant [8 x i32] [i32 0, i32 -1560706194, i32 1313084713, i32 -64530479, i32 -181084736, i32 -614296167, i32 1011060801, i32 -28220501], align 16
@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_exp_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.exp.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.exp.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_exp2_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.exp2.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.exp2.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_log_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.log.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.log.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_log2_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.log2.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.log2.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_log10_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.log10.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.log10.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_round_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.round.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.round.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_rsqrt_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.amdgcn.rsq.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.rsq.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_sqrt_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.sqrt.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.sqrt.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_ldexp_f32(float noundef %0, i32 noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.ldexp.f32.i32(float %0, i32 %1)
  ret float %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.ldexp.f32.i32(float, i32) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_fmod_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = frem float %0, %1
  ret float %3
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_fdim_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = fcmp ole float %0, %1
  %4 = fsub float %0, %1
  %5 = select i1 %3, float 0.000000e+00, float %4
  ret float %5
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_exp10_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fmul float %0, 0x400A934F00000000
  %3 = fneg float %2
  %4 = tail call float @llvm.fma.f32(float %0, float 0x400A934F00000000, float %3)
  %5 = fmul float %0, 0x3E72F346E0000000
  %6 = fadd float %5, %4
  %7 = tail call float @llvm.rint.f32(float %2)
  %8 = fsub float %2, %7
  %9 = fadd float %8, %6
  %10 = tail call float @llvm.exp2.f32(float %9)
  %11 = tail call float @llvm.minnum.f32(float %7, float 3.000000e+02)
  %12 = tail call float @llvm.maxnum.f32(float %11, float -3.000000e+02)
  %13 = fptosi float %12 to i32
  %14 = tail call float @llvm.ldexp.f32.i32(float %10, i32 %13)
  %15 = fcmp uno float %0, 0.000000e+00
  %16 = select i1 %15, float %0, float %14
  ret float %16
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.rint.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.minnum.f32(float, float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maxnum.f32(float, float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_expm1_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.exp.f32(float %0)
  %3 = fadd float %2, -1.000000e+00
  %4 = fcmp oeq float %2, 1.000000e+00
  br i1 %4, label %14, label %5

5:                                                ; preds = %1
  %6 = fcmp oeq float %3, -1.000000e+00
  %7 = tail call float @llvm.fabs.f32(float %2)
  %8 = fcmp oeq float %7, 0x7FF0000000000000
  %9 = or i1 %6, %8
  br i1 %9, label %14, label %10

10:                                               ; preds = %5
  %11 = fmul float %3, %0
  %12 = tail call float @llvm.log.f32(float %2)
  %13 = fdiv float %11, %12
  br label %14

14:                                               ; preds = %5, %1, %10
  %15 = phi float [ %13, %10 ], [ %0, %1 ], [ %3, %5 ]
  ret float %15
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i1 @llvm.is.fpclass.f32(float, i32 immarg) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_log1p_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fadd float %0, 1.000000e+00
  %3 = fcmp oeq float %2, 1.000000e+00
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = fcmp oeq float %4, 0x7FF0000000000000
  %6 = or i1 %3, %5
  br i1 %6, label %12, label %7

7:                                                ; preds = %1
  %8 = tail call float @llvm.log.f32(float %2)
  %9 = fmul float %8, %0
  %10 = fadd float %2, -1.000000e+00
  %11 = fdiv float %9, %10
  br label %12

12:                                               ; preds = %1, %7
  %13 = phi float [ %11, %7 ], [ %0, %1 ]
  ret float %13
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden i32 @__ocml_ilogb_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp ueq float %0, 0.000000e+00
  br i1 %2, label %9, label %3

3:                                                ; preds = %1
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = fcmp oeq float %4, 0x7FF0000000000000
  br i1 %5, label %9, label %6

6:                                                ; preds = %3
  %7 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %0)
  %8 = add nsw i32 %7, -1
  br label %9

9:                                                ; preds = %3, %1, %6
  %10 = phi i32 [ %8, %6 ], [ -2147483648, %1 ], [ 2147483647, %3 ]
  ret i32 %10
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.amdgcn.frexp.exp.i32.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_logb_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp oeq float %0, 0.000000e+00
  br i1 %2, label %12, label %3

3:                                                ; preds = %1
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = fcmp ueq float %4, 0x7FF0000000000000
  br i1 %5, label %6, label %8

6:                                                ; preds = %3
  %7 = fmul float %0, %0
  br label %12

8:                                                ; preds = %3
  %9 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %0)
  %10 = add nsw i32 %9, -1
  %11 = sitofp i32 %10 to float
  br label %12

12:                                               ; preds = %1, %8, %6
  %13 = phi float [ %7, %6 ], [ %11, %8 ], [ 0xFFF0000000000000, %1 ]
  ret float %13
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_sin_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ueq float %2, 0x7FF0000000000000
  br i1 %3, label %103, label %4

4:                                                ; preds = %1
  %5 = fcmp olt float %2, 3.000000e+04
  br i1 %5, label %6, label %13

6:                                                ; preds = %4
  %7 = fmul float %0, 0x3FE45F3060000000
  %8 = tail call float @llvm.rint.f32(float %7)
  %9 = tail call float @llvm.fma.f32(float %8, float 0xBFF921FB60000000, float %0)
  %10 = tail call float @llvm.fma.f32(float %8, float 0x3E6777A5C0000000, float %9)
  %11 = tail call float @llvm.fma.f32(float %8, float 0x3CDEE59DA0000000, float %10)
  %12 = fptosi float %8 to i32
  br label %79

13:                                               ; preds = %4
  %14 = bitcast float %0 to i32
  %15 = lshr i32 %14, 23
  %16 = and i32 %14, 8388607
  %17 = or disjoint i32 %16, 8388608
  %18 = trunc nuw nsw i32 %15 to i16
  %19 = and i16 %18, 255
  %20 = add nsw i16 %19, -120
  %21 = sdiv i16 %20, 32
  %22 = sext i16 %21 to i32
  %23 = mul i16 %21, 32
  %24 = sub i16 %20, %23
  %25 = sext i16 %21 to i64
  %26 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %25
  %27 = load i32, ptr addrspace(4) %26, align 4, !tbaa !5
  %28 = add nsw i32 %22, 1
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %29
  %31 = load i32, ptr addrspace(4) %30, align 4, !tbaa !5
  %32 = add nsw i32 %22, 2
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %33
  %35 = load i32, ptr addrspace(4) %34, align 4, !tbaa !5
  %36 = add nsw i32 %22, 3
  %37 = zext nneg i32 %36 to i64
  %38 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %37
  %39 = load i32, ptr addrspace(4) %38, align 4, !tbaa !5
  %40 = sext i16 %24 to i32
  %41 = icmp eq i16 %24, 0
  %42 = sub nsw i32 32, %40
  %43 = shl i32 %27, %40
  %44 = lshr i32 %31, %42
  %45 = or i32 %44, %43
  %46 = select i1 %41, i32 %27, i32 %45
  %47 = shl i32 %31, %40
  %48 = lshr i32 %35, %42
  %49 = or i32 %48, %47
  %50 = select i1 %41, i32 %31, i32 %49
  %51 = shl i32 %35, %40
  %52 = lshr i32 %39, %42
  %53 = or i32 %52, %51
  %54 = select i1 %41, i32 %35, i32 %53
  %55 = zext nneg i32 %17 to i64
  %56 = zext i32 %54 to i64
  %57 = mul nuw nsw i64 %56, %55
  %58 = zext i32 %50 to i64
  %59 = lshr i64 %57, 32
  %60 = zext i32 %46 to i64
  %61 = shl nuw i64 %60, 32
  %62 = or disjoint i64 %61, %58
  %63 = mul i64 %62, %55
  %64 = add i64 %63, %59
  %65 = shl i64 %64, 2
  %66 = lshr i64 %64, 62
  %67 = trunc nuw nsw i64 %66 to i32
  %68 = lshr i64 %65, 63
  %69 = trunc nuw nsw i64 %68 to i32
  %70 = add nuw nsw i32 %69, %67
  %71 = sitofp i64 %65 to double
  %72 = fmul double %71, 0x3BF921FB54442D18
  %73 = fptrunc double %72 to float
  %74 = fcmp olt float %0, 0.000000e+00
  %75 = sub nsw i32 0, %70
  %76 = fneg float %73
  %77 = select i1 %74, i32 %75, i32 %70
  %78 = select i1 %74, float %76, float %73
  br label %79

79:                                               ; preds = %6, %13
  %80 = phi i32 [ %12, %6 ], [ %77, %13 ]
  %81 = phi float [ %11, %6 ], [ %78, %13 ]
  %82 = and i32 %80, 1
  %83 = icmp eq i32 %82, 0
  %84 = fmul float %81, %81
  br i1 %83, label %91, label %85

85:                                               ; preds = %79
  %86 = tail call float @llvm.fma.f32(float %84, float 0x3EF99EB9C0000000, float 0xBF56C0C340000000)
  %87 = tail call float @llvm.fma.f32(float %84, float %86, float 0x3FA55554A0000000)
  %88 = fmul float %84, %84
  %89 = tail call float @llvm.fma.f32(float %84, float -5.000000e-01, float 1.000000e+00)
  %90 = tail call noundef float @llvm.fma.f32(float %88, float %87, float %89)
  br label %97

91:                                               ; preds = %79
  %92 = tail call float @llvm.fma.f32(float %84, float 0x3EC6CD1F20000000, float 0xBF2A00E560000000)
  %93 = tail call float @llvm.fma.f32(float %84, float %92, float 0x3F81110BA0000000)
  %94 = fmul float %81, %84
  %95 = tail call float @llvm.fma.f32(float %84, float %93, float 0xBFC5555460000000)
  %96 = tail call noundef float @llvm.fma.f32(float %94, float %95, float %81)
  br label %97

97:                                               ; preds = %85, %91
  %98 = phi float [ %90, %85 ], [ %96, %91 ]
  %99 = and i32 %80, 2
  %100 = icmp eq i32 %99, 0
  %101 = fneg float %98
  %102 = select i1 %100, float %98, float %101
  br label %103

103:                                              ; preds = %1, %97
  %104 = phi float [ %102, %97 ], [ 0x7FF8000000000000, %1 ]
  ret float %104
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_cos_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ueq float %2, 0x7FF0000000000000
  br i1 %3, label %104, label %4

4:                                                ; preds = %1
  %5 = fcmp olt float %2, 3.000000e+04
  br i1 %5, label %6, label %13

6:                                                ; preds = %4
  %7 = fmul float %0, 0x3FE45F3060000000
  %8 = tail call float @llvm.rint.f32(float %7)
  %9 = tail call float @llvm.fma.f32(float %8, float 0xBFF921FB60000000, float %0)
  %10 = tail call float @llvm.fma.f32(float %8, float 0x3E6777A5C0000000, float %9)
  %11 = tail call float @llvm.fma.f32(float %8, float 0x3CDEE59DA0000000, float %10)
  %12 = fptosi float %8 to i32
  br label %79

13:                                               ; preds = %4
  %14 = bitcast float %0 to i32
  %15 = lshr i32 %14, 23
  %16 = and i32 %14, 8388607
  %17 = or disjoint i32 %16, 8388608
  %18 = trunc nuw nsw i32 %15 to i16
  %19 = and i16 %18, 255
  %20 = add nsw i16 %19, -120
  %21 = sdiv i16 %20, 32
  %22 = sext i16 %21 to i32
  %23 = mul i16 %21, 32
  %24 = sub i16 %20, %23
  %25 = sext i16 %21 to i64
  %26 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %25
  %27 = load i32, ptr addrspace(4) %26, align 4, !tbaa !5
  %28 = add nsw i32 %22, 1
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %29
  %31 = load i32, ptr addrspace(4) %30, align 4, !tbaa !5
  %32 = add nsw i32 %22, 2
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %33
  %35 = load i32, ptr addrspace(4) %34, align 4, !tbaa !5
  %36 = add nsw i32 %22, 3
  %37 = zext nneg i32 %36 to i64
  %38 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %37
  %39 = load i32, ptr addrspace(4) %38, align 4, !tbaa !5
  %40 = sext i16 %24 to i32
  %41 = icmp eq i16 %24, 0
  %42 = sub nsw i32 32, %40
  %43 = shl i32 %27, %40
  %44 = lshr i32 %31, %42
  %45 = or i32 %44, %43
  %46 = select i1 %41, i32 %27, i32 %45
  %47 = shl i32 %31, %40
  %48 = lshr i32 %35, %42
  %49 = or i32 %48, %47
  %50 = select i1 %41, i32 %31, i32 %49
  %51 = shl i32 %35, %40
  %52 = lshr i32 %39, %42
  %53 = or i32 %52, %51
  %54 = select i1 %41, i32 %35, i32 %53
  %55 = zext nneg i32 %17 to i64
  %56 = zext i32 %54 to i64
  %57 = mul nuw nsw i64 %56, %55
  %58 = zext i32 %50 to i64
  %59 = lshr i64 %57, 32
  %60 = zext i32 %46 to i64
  %61 = shl nuw i64 %60, 32
  %62 = or disjoint i64 %61, %58
  %63 = mul i64 %62, %55
  %64 = add i64 %63, %59
  %65 = shl i64 %64, 2
  %66 = lshr i64 %64, 62
  %67 = trunc nuw nsw i64 %66 to i32
  %68 = lshr i64 %65, 63
  %69 = trunc nuw nsw i64 %68 to i32
  %70 = add nuw nsw i32 %69, %67
  %71 = sitofp i64 %65 to double
  %72 = fmul double %71, 0x3BF921FB54442D18
  %73 = fptrunc double %72 to float
  %74 = fcmp olt float %0, 0.000000e+00
  %75 = sub nsw i32 0, %70
  %76 = fneg float %73
  %77 = select i1 %74, i32 %75, i32 %70
  %78 = select i1 %74, float %76, float %73
  br label %79

79:                                               ; preds = %6, %13
  %80 = phi i32 [ %12, %6 ], [ %77, %13 ]
  %81 = phi float [ %11, %6 ], [ %78, %13 ]
  %82 = add i32 %80, 1
  %83 = and i32 %80, 1
  %84 = icmp eq i32 %83, 0
  %85 = fmul float %81, %81
  br i1 %84, label %86, label %92

86:                                               ; preds = %79
  %87 = tail call float @llvm.fma.f32(float %85, float 0x3EF99EB9C0000000, float 0xBF56C0C340000000)
  %88 = tail call float @llvm.fma.f32(float %85, float %87, float 0x3FA55554A0000000)
  %89 = fmul float %85, %85
  %90 = tail call float @llvm.fma.f32(float %85, float -5.000000e-01, float 1.000000e+00)
  %91 = tail call noundef float @llvm.fma.f32(float %89, float %88, float %90)
  br label %98

92:                                               ; preds = %79
  %93 = tail call float @llvm.fma.f32(float %85, float 0x3EC6CD1F20000000, float 0xBF2A00E560000000)
  %94 = tail call float @llvm.fma.f32(float %85, float %93, float 0x3F81110BA0000000)
  %95 = fmul float %81, %85
  %96 = tail call float @llvm.fma.f32(float %85, float %94, float 0xBFC5555460000000)
  %97 = tail call noundef float @llvm.fma.f32(float %95, float %96, float %81)
  br label %98

98:                                               ; preds = %86, %92
  %99 = phi float [ %91, %86 ], [ %97, %92 ]
  %100 = and i32 %82, 2
  %101 = icmp eq i32 %100, 0
  %102 = fneg float %99
  %103 = select i1 %101, float %99, float %102
  br label %104

104:                                              ; preds = %1, %98
  %105 = phi float [ %103, %98 ], [ 0x7FF8000000000000, %1 ]
  ret float %105
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_tan_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ueq float %2, 0x7FF0000000000000
  br i1 %3, label %100, label %4

4:                                                ; preds = %1
  %5 = fcmp olt float %2, 3.000000e+04
  br i1 %5, label %6, label %13

6:                                                ; preds = %4
  %7 = fmul float %0, 0x3FE45F3060000000
  %8 = tail call float @llvm.rint.f32(float %7)
  %9 = tail call float @llvm.fma.f32(float %8, float 0xBFF921FB60000000, float %0)
  %10 = tail call float @llvm.fma.f32(float %8, float 0x3E6777A5C0000000, float %9)
  %11 = tail call float @llvm.fma.f32(float %8, float 0x3CDEE59DA0000000, float %10)
  %12 = fptosi float %8 to i32
  br label %79

13:                                               ; preds = %4
  %14 = bitcast float %0 to i32
  %15 = lshr i32 %14, 23
  %16 = and i32 %14, 8388607
  %17 = or disjoint i32 %16, 8388608
  %18 = trunc nuw nsw i32 %15 to i16
  %19 = and i16 %18, 255
  %20 = add nsw i16 %19, -120
  %21 = sdiv i16 %20, 32
  %22 = sext i16 %21 to i32
  %23 = mul i16 %21, 32
  %24 = sub i16 %20, %23
  %25 = sext i16 %21 to i64
  %26 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %25
  %27 = load i32, ptr addrspace(4) %26, align 4, !tbaa !5
  %28 = add nsw i32 %22, 1
  %29 = sext i32 %28 to i64
  %30 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %29
  %31 = load i32, ptr addrspace(4) %30, align 4, !tbaa !5
  %32 = add nsw i32 %22, 2
  %33 = sext i32 %32 to i64
  %34 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %33
  %35 = load i32, ptr addrspace(4) %34, align 4, !tbaa !5
  %36 = add nsw i32 %22, 3
  %37 = zext nneg i32 %36 to i64
  %38 = getelementptr inbounds [8 x i32], ptr addrspace(4) @__const._ZL10kc_reducedf.words, i64 0, i64 %37
  %39 = load i32, ptr addrspace(4) %38, align 4, !tbaa !5
  %40 = sext i16 %24 to i32
  %41 = icmp eq i16 %24, 0
  %42 = sub nsw i32 32, %40
  %43 = shl i32 %27, %40
  %44 = lshr i32 %31, %42
  %45 = or i32 %44, %43
  %46 = select i1 %41, i32 %27, i32 %45
  %47 = shl i32 %31, %40
  %48 = lshr i32 %35, %42
  %49 = or i32 %48, %47
  %50 = select i1 %41, i32 %31, i32 %49
  %51 = shl i32 %35, %40
  %52 = lshr i32 %39, %42
  %53 = or i32 %52, %51
  %54 = select i1 %41, i32 %35, i32 %53
  %55 = zext nneg i32 %17 to i64
  %56 = zext i32 %54 to i64
  %57 = mul nuw nsw i64 %56, %55
  %58 = zext i32 %50 to i64
  %59 = lshr i64 %57, 32
  %60 = zext i32 %46 to i64
  %61 = shl nuw i64 %60, 32
  %62 = or disjoint i64 %61, %58
  %63 = mul i64 %62, %55
  %64 = add i64 %63, %59
  %65 = shl i64 %64, 2
  %66 = lshr i64 %64, 62
  %67 = trunc nuw nsw i64 %66 to i32
  %68 = lshr i64 %65, 63
  %69 = trunc nuw nsw i64 %68 to i32
  %70 = add nuw nsw i32 %69, %67
  %71 = sitofp i64 %65 to double
  %72 = fmul double %71, 0x3BF921FB54442D18
  %73 = fptrunc double %72 to float
  %74 = fcmp olt float %0, 0.000000e+00
  %75 = sub nsw i32 0, %70
  %76 = fneg float %73
  %77 = select i1 %74, i32 %75, i32 %70
  %78 = select i1 %74, float %76, float %73
  br label %79

79:                                               ; preds = %6, %13
  %80 = phi i32 [ %12, %6 ], [ %77, %13 ]
  %81 = phi float [ %11, %6 ], [ %78, %13 ]
  %82 = fmul float %81, %81
  %83 = tail call float @llvm.fma.f32(float %82, float 0x3EC6CD1F20000000, float 0xBF2A00E560000000)
  %84 = tail call float @llvm.fma.f32(float %82, float %83, float 0x3F81110BA0000000)
  %85 = fmul float %81, %82
  %86 = tail call float @llvm.fma.f32(float %82, float %84, float 0xBFC5555460000000)
  %87 = tail call noundef float @llvm.fma.f32(float %85, float %86, float %81)
  %88 = tail call float @llvm.fma.f32(float %82, float 0x3EF99EB9C0000000, float 0xBF56C0C340000000)
  %89 = tail call float @llvm.fma.f32(float %82, float %88, float 0x3FA55554A0000000)
  %90 = fmul float %82, %82
  %91 = tail call float @llvm.fma.f32(float %82, float -5.000000e-01, float 1.000000e+00)
  %92 = tail call noundef float @llvm.fma.f32(float %90, float %89, float %91)
  %93 = and i32 %80, 1
  %94 = icmp eq i32 %93, 0
  br i1 %94, label %98, label %95

95:                                               ; preds = %79
  %96 = fneg float %92
  %97 = fdiv float %96, %87
  br label %100

98:                                               ; preds = %79
  %99 = fdiv float %87, %92
  br label %100

100:                                              ; preds = %95, %98, %1
  %101 = phi float [ 0x7FF8000000000000, %1 ], [ %97, %95 ], [ %99, %98 ]
  ret float %101
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_sinpi_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ueq float %2, 0x7FF0000000000000
  br i1 %3, label %35, label %4

4:                                                ; preds = %1
  %5 = fmul float %0, 2.000000e+00
  %6 = tail call float @llvm.rint.f32(float %5)
  %7 = tail call float @llvm.fma.f32(float %6, float -5.000000e-01, float %0)
  %8 = fmul float %6, 2.500000e-01
  %9 = tail call float @llvm.floor.f32(float %8)
  %10 = fmul float %9, 4.000000e+00
  %11 = fsub float %6, %10
  %12 = fptosi float %11 to i32
  %13 = fmul float %7, 0x400921FB60000000
  %14 = and i32 %12, 1
  %15 = icmp eq i32 %14, 0
  %16 = fmul float %13, %13
  br i1 %15, label %23, label %17

17:                                               ; preds = %4
  %18 = tail call float @llvm.fma.f32(float %16, float 0x3EF99EB9C0000000, float 0xBF56C0C340000000)
  %19 = tail call float @llvm.fma.f32(float %16, float %18, float 0x3FA55554A0000000)
  %20 = fmul float %16, %16
  %21 = tail call float @llvm.fma.f32(float %16, float -5.000000e-01, float 1.000000e+00)
  %22 = tail call noundef float @llvm.fma.f32(float %20, float %19, float %21)
  br label %29

23:                                               ; preds = %4
  %24 = tail call float @llvm.fma.f32(float %16, float 0x3EC6CD1F20000000, float 0xBF2A00E560000000)
  %25 = tail call float @llvm.fma.f32(float %16, float %24, float 0x3F81110BA0000000)
  %26 = fmul float %13, %16
  %27 = tail call float @llvm.fma.f32(float %16, float %25, float 0xBFC5555460000000)
  %28 = tail call noundef float @llvm.fma.f32(float %26, float %27, float %13)
  br label %29

29:                                               ; preds = %17, %23
  %30 = phi float [ %22, %17 ], [ %28, %23 ]
  %31 = and i32 %12, 2
  %32 = icmp eq i32 %31, 0
  %33 = fneg float %30
  %34 = select i1 %32, float %30, float %33
  br label %35

35:                                               ; preds = %1, %29
  %36 = phi float [ %34, %29 ], [ 0x7FF8000000000000, %1 ]
  ret float %36
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_cospi_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ueq float %2, 0x7FF0000000000000
  br i1 %3, label %36, label %4

4:                                                ; preds = %1
  %5 = fmul float %0, 2.000000e+00
  %6 = tail call float @llvm.rint.f32(float %5)
  %7 = tail call float @llvm.fma.f32(float %6, float -5.000000e-01, float %0)
  %8 = fmul float %6, 2.500000e-01
  %9 = tail call float @llvm.floor.f32(float %8)
  %10 = fmul float %9, 4.000000e+00
  %11 = fsub float %6, %10
  %12 = fptosi float %11 to i32
  %13 = fmul float %7, 0x400921FB60000000
  %14 = add i32 %12, 1
  %15 = and i32 %12, 1
  %16 = icmp eq i32 %15, 0
  %17 = fmul float %13, %13
  br i1 %16, label %18, label %24

18:                                               ; preds = %4
  %19 = tail call float @llvm.fma.f32(float %17, float 0x3EF99EB9C0000000, float 0xBF56C0C340000000)
  %20 = tail call float @llvm.fma.f32(float %17, float %19, float 0x3FA55554A0000000)
  %21 = fmul float %17, %17
  %22 = tail call float @llvm.fma.f32(float %17, float -5.000000e-01, float 1.000000e+00)
  %23 = tail call noundef float @llvm.fma.f32(float %21, float %20, float %22)
  br label %30

24:                                               ; preds = %4
  %25 = tail call float @llvm.fma.f32(float %17, float 0x3EC6CD1F20000000, float 0xBF2A00E560000000)
  %26 = tail call float @llvm.fma.f32(float %17, float %25, float 0x3F81110BA0000000)
  %27 = fmul float %13, %17
  %28 = tail call float @llvm.fma.f32(float %17, float %26, float 0xBFC5555460000000)
  %29 = tail call noundef float @llvm.fma.f32(float %27, float %28, float %13)
  br label %30

30:                                               ; preds = %18, %24
  %31 = phi float [ %23, %18 ], [ %29, %24 ]
  %32 = and i32 %14, 2
  %33 = icmp eq i32 %32, 0
  %34 = fneg float %31
  %35 = select i1 %33, float %31, float %34
  br label %36

36:                                               ; preds = %1, %30
  %37 = phi float [ %35, %30 ], [ 0x7FF8000000000000, %1 ]
  ret float %37
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_asin_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ugt float %2, 5.000000e-01
  br i1 %3, label %12, label %4

4:                                                ; preds = %1
  %5 = fmul float %0, %0
  %6 = tail call float @llvm.fma.f32(float %5, float 0x3FA5966A40000000, float 0x3F98C2FC60000000)
  %7 = tail call float @llvm.fma.f32(float %5, float %6, float 0x3FA747D8E0000000)
  %8 = tail call float @llvm.fma.f32(float %5, float %7, float 0x3FB3301EC0000000)
  %9 = tail call float @llvm.fma.f32(float %5, float %8, float 0x3FC5555C80000000)
  %10 = fmul float %5, %0
  %11 = tail call noundef float @llvm.fma.f32(float %10, float %9, float %0)
  br label %25

12:                                               ; preds = %1
  %13 = fsub float 1.000000e+00, %2
  %14 = fmul float %13, 5.000000e-01
  %15 = tail call float @llvm.sqrt.f32(float %14)
  %16 = tail call float @llvm.fma.f32(float %14, float 0x3FA5966A40000000, float 0x3F98C2FC60000000)
  %17 = tail call float @llvm.fma.f32(float %14, float %16, float 0x3FA747D8E0000000)
  %18 = tail call float @llvm.fma.f32(float %14, float %17, float 0x3FB3301EC0000000)
  %19 = tail call float @llvm.fma.f32(float %14, float %18, float 0x3FC5555C80000000)
  %20 = fmul float %14, %15
  %21 = tail call noundef float @llvm.fma.f32(float %20, float %19, float %15)
  %22 = fmul float %21, 2.000000e+00
  %23 = fsub float 0x3FF921FB60000000, %22
  %24 = tail call float @llvm.copysign.f32(float %23, float %0)
  br label %25

25:                                               ; preds = %12, %4
  %26 = phi float [ %11, %4 ], [ %24, %12 ]
  ret float %26
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.copysign.f32(float, float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden noundef float @__ocml_acos_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ugt float %2, 5.000000e-01
  br i1 %3, label %13, label %4

4:                                                ; preds = %1
  %5 = fmul float %0, %0
  %6 = tail call float @llvm.fma.f32(float %5, float 0x3FA5966A40000000, float 0x3F98C2FC60000000)
  %7 = tail call float @llvm.fma.f32(float %5, float %6, float 0x3FA747D8E0000000)
  %8 = tail call float @llvm.fma.f32(float %5, float %7, float 0x3FB3301EC0000000)
  %9 = tail call float @llvm.fma.f32(float %5, float %8, float 0x3FC5555C80000000)
  %10 = fmul float %5, %0
  %11 = tail call noundef float @llvm.fma.f32(float %10, float %9, float %0)
  %12 = fsub float 0x3FF921FB60000000, %11
  br label %27

13:                                               ; preds = %1
  %14 = fsub float 1.000000e+00, %2
  %15 = fmul float %14, 5.000000e-01
  %16 = tail call float @llvm.sqrt.f32(float %15)
  %17 = tail call float @llvm.fma.f32(float %15, float 0x3FA5966A40000000, float 0x3F98C2FC60000000)
  %18 = tail call float @llvm.fma.f32(float %15, float %17, float 0x3FA747D8E0000000)
  %19 = tail call float @llvm.fma.f32(float %15, float %18, float 0x3FB3301EC0000000)
  %20 = tail call float @llvm.fma.f32(float %15, float %19, float 0x3FC5555C80000000)
  %21 = fmul float %15, %16
  %22 = tail call noundef float @llvm.fma.f32(float %21, float %20, float %16)
  %23 = fmul float %22, 2.000000e+00
  %24 = fcmp olt float %0, 0.000000e+00
  %25 = fsub float 0x400921FB60000000, %23
  %26 = select i1 %24, float %25, float %23
  br label %27

27:                                               ; preds = %13, %4
  %28 = phi float [ %12, %4 ], [ %26, %13 ]
  ret float %28
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_atan_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ogt float %2, 0x4003504F40000000
  br i1 %3, label %4, label %6

4:                                                ; preds = %1
  %5 = fdiv float -1.000000e+00, %2
  br label %12

6:                                                ; preds = %1
  %7 = fcmp ogt float %2, 0x3FDA8279A0000000
  br i1 %7, label %8, label %12

8:                                                ; preds = %6
  %9 = fadd float %2, -1.000000e+00
  %10 = fadd float %2, 1.000000e+00
  %11 = fdiv float %9, %10
  br label %12

12:                                               ; preds = %6, %8, %4
  %13 = phi float [ %5, %4 ], [ %11, %8 ], [ %2, %6 ]
  %14 = phi float [ 0x3FF921FB60000000, %4 ], [ 0x3FE921FB60000000, %8 ], [ 0.000000e+00, %6 ]
  %15 = fmul float %13, %13
  %16 = tail call float @llvm.fma.f32(float %15, float 0x3FB49E1A20000000, float 0xBFC1C370A0000000)
  %17 = tail call float @llvm.fma.f32(float %15, float %16, float 0x3FC9924BE0000000)
  %18 = tail call float @llvm.fma.f32(float %15, float %17, float 0xBFD5554540000000)
  %19 = fmul float %13, %15
  %20 = tail call float @llvm.fma.f32(float %19, float %18, float %13)
  %21 = fadd float %14, %20
  %22 = tail call float @llvm.copysign.f32(float %21, float %0)
  ret float %22
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_atan2_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = tail call float @llvm.fabs.f32(float %1)
  %5 = tail call float @llvm.maxnum.f32(float %3, float %4)
  %6 = tail call float @llvm.minnum.f32(float %3, float %4)
  %7 = fcmp oeq float %5, 0.000000e+00
  br i1 %7, label %12, label %8

8:                                                ; preds = %2
  %9 = fcmp oeq float %6, 0x7FF0000000000000
  br i1 %9, label %12, label %10

10:                                               ; preds = %8
  %11 = fdiv float %6, %5
  br label %12

12:                                               ; preds = %10, %8, %2
  %13 = phi float [ 0.000000e+00, %2 ], [ %11, %10 ], [ 1.000000e+00, %8 ]
  %14 = tail call float @llvm.fabs.f32(float %13)
  %15 = fcmp ogt float %14, 0x4003504F40000000
  br i1 %15, label %16, label %18

16:                                               ; preds = %12
  %17 = fdiv float -1.000000e+00, %14
  br label %24

18:                                               ; preds = %12
  %19 = fcmp ogt float %14, 0x3FDA8279A0000000
  br i1 %19, label %20, label %24

20:                                               ; preds = %18
  %21 = fadd float %14, -1.000000e+00
  %22 = fadd float %14, 1.000000e+00
  %23 = fdiv float %21, %22
  br label %24

24:                                               ; preds = %16, %18, %20
  %25 = phi float [ %17, %16 ], [ %23, %20 ], [ %14, %18 ]
  %26 = phi float [ 0x3FF921FB60000000, %16 ], [ 0x3FE921FB60000000, %20 ], [ 0.000000e+00, %18 ]
  %27 = fmul float %25, %25
  %28 = tail call float @llvm.fma.f32(float %27, float 0x3FB49E1A20000000, float 0xBFC1C370A0000000)
  %29 = tail call float @llvm.fma.f32(float %27, float %28, float 0x3FC9924BE0000000)
  %30 = tail call float @llvm.fma.f32(float %27, float %29, float 0xBFD5554540000000)
  %31 = fmul float %25, %27
  %32 = tail call float @llvm.fma.f32(float %31, float %30, float %25)
  %33 = fadd float %26, %32
  %34 = tail call float @llvm.copysign.f32(float %33, float %13)
  %35 = fcmp ogt float %3, %4
  %36 = fsub float 0x3FF921FB60000000, %34
  %37 = select i1 %35, float %36, float %34
  %38 = bitcast float %1 to i32
  %39 = icmp slt i32 %38, 0
  %40 = fsub float 0x400921FB60000000, %37
  %41 = select i1 %39, float %40, float %37
  %42 = fcmp uno float %1, %0
  %43 = fadd float %0, %1
  %44 = tail call float @llvm.copysign.f32(float %41, float %0)
  %45 = select i1 %42, float %43, float %44
  ret float %45
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_sinh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ugt float %2, 1.000000e+00
  br i1 %3, label %10, label %4

4:                                                ; preds = %1
  %5 = fmul float %0, %0
  %6 = tail call float @llvm.fma.f32(float %5, float 0x3F2AB3C5E0000000, float 0x3F810F77C0000000)
  %7 = tail call float @llvm.fma.f32(float %5, float %6, float 0x3FC5555980000000)
  %8 = fmul float %5, %0
  %9 = tail call float @llvm.fma.f32(float %8, float %7, float %0)
  br label %18

10:                                               ; preds = %1
  %11 = fmul float %2, 5.000000e-01
  %12 = tail call float @llvm.exp.f32(float %11)
  %13 = fmul float %12, 5.000000e-01
  %14 = fmul float %12, %13
  %15 = fdiv float 2.500000e-01, %14
  %16 = fsub float %14, %15
  %17 = tail call float @llvm.copysign.f32(float %16, float %0)
  br label %18

18:                                               ; preds = %10, %4
  %19 = phi float [ %9, %4 ], [ %17, %10 ]
  ret float %19
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_cosh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fmul float %2, 5.000000e-01
  %4 = tail call float @llvm.exp.f32(float %3)
  %5 = fmul float %4, 5.000000e-01
  %6 = fmul float %4, %5
  %7 = fdiv float 2.500000e-01, %6
  %8 = fadd float %6, %7
  ret float %8
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_tanh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ult float %2, 6.250000e-01
  br i1 %3, label %11, label %4

4:                                                ; preds = %1
  %5 = fmul float %2, 2.000000e+00
  %6 = tail call float @llvm.exp.f32(float %5)
  %7 = fadd float %6, 1.000000e+00
  %8 = fdiv float 2.000000e+00, %7
  %9 = fsub float 1.000000e+00, %8
  %10 = tail call float @llvm.copysign.f32(float %9, float %0)
  br label %19

11:                                               ; preds = %1
  %12 = fmul float %0, %0
  %13 = tail call float @llvm.fma.f32(float %12, float 0xBF775E1D40000000, float 0x3F952269C0000000)
  %14 = tail call float @llvm.fma.f32(float %12, float %13, float 0xBFAB83C5A0000000)
  %15 = tail call float @llvm.fma.f32(float %12, float %14, float 0x3FC1107260000000)
  %16 = tail call float @llvm.fma.f32(float %12, float %15, float 0xBFD5555320000000)
  %17 = fmul float %12, %0
  %18 = tail call float @llvm.fma.f32(float %17, float %16, float %0)
  br label %19

19:                                               ; preds = %11, %4
  %20 = phi float [ %10, %4 ], [ %18, %11 ]
  ret float %20
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_asinh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp ogt float %2, 1.000000e+09
  br i1 %3, label %4, label %7

4:                                                ; preds = %1
  %5 = tail call float @llvm.log.f32(float %2)
  %6 = fadd float %5, 0x3FE62E4300000000
  br label %24

7:                                                ; preds = %1
  %8 = fmul float %0, %0
  %9 = fadd float %8, 1.000000e+00
  %10 = tail call float @llvm.sqrt.f32(float %9)
  %11 = fadd float %10, 1.000000e+00
  %12 = fdiv float %8, %11
  %13 = fadd float %2, %12
  %14 = fadd float %13, 1.000000e+00
  %15 = fcmp oeq float %14, 1.000000e+00
  %16 = tail call float @llvm.fabs.f32(float %13)
  %17 = fcmp oeq float %16, 0x7FF0000000000000
  %18 = or i1 %15, %17
  br i1 %18, label %24, label %19

19:                                               ; preds = %7
  %20 = tail call float @llvm.log.f32(float %14)
  %21 = fmul float %13, %20
  %22 = fadd float %14, -1.000000e+00
  %23 = fdiv float %21, %22
  br label %24

24:                                               ; preds = %19, %7, %4
  %25 = phi float [ %6, %4 ], [ %23, %19 ], [ %13, %7 ]
  %26 = tail call float @llvm.copysign.f32(float %25, float %0)
  ret float %26
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_acosh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fcmp ogt float %0, 1.000000e+09
  br i1 %2, label %3, label %6

3:                                                ; preds = %1
  %4 = tail call float @llvm.log.f32(float %0)
  %5 = fadd float %4, 0x3FE62E4300000000
  br label %23

6:                                                ; preds = %1
  %7 = fadd float %0, -1.000000e+00
  %8 = fmul float %7, 2.000000e+00
  %9 = fmul float %7, %7
  %10 = fadd float %8, %9
  %11 = tail call float @llvm.sqrt.f32(float %10)
  %12 = fadd float %7, %11
  %13 = fadd float %12, 1.000000e+00
  %14 = fcmp oeq float %13, 1.000000e+00
  %15 = tail call float @llvm.fabs.f32(float %12)
  %16 = fcmp oeq float %15, 0x7FF0000000000000
  %17 = or i1 %14, %16
  br i1 %17, label %23, label %18

18:                                               ; preds = %6
  %19 = tail call float @llvm.log.f32(float %13)
  %20 = fmul float %12, %19
  %21 = fadd float %13, -1.000000e+00
  %22 = fdiv float %20, %21
  br label %23

23:                                               ; preds = %18, %6, %3
  %24 = phi float [ %5, %3 ], [ %22, %18 ], [ %12, %6 ]
  ret float %24
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_atanh_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fmul float %2, 2.000000e+00
  %4 = fsub float 1.000000e+00, %2
  %5 = fdiv float %3, %4
  %6 = fadd float %5, 1.000000e+00
  %7 = fcmp oeq float %6, 1.000000e+00
  %8 = tail call float @llvm.fabs.f32(float %5)
  %9 = fcmp oeq float %8, 0x7FF0000000000000
  %10 = or i1 %7, %9
  br i1 %10, label %16, label %11

11:                                               ; preds = %1
  %12 = tail call float @llvm.log.f32(float %6)
  %13 = fmul float %5, %12
  %14 = fadd float %6, -1.000000e+00
  %15 = fdiv float %13, %14
  br label %16

16:                                               ; preds = %1, %11
  %17 = phi float [ %15, %11 ], [ %5, %1 ]
  %18 = fmul float %17, 5.000000e-01
  %19 = tail call float @llvm.copysign.f32(float %18, float %0)
  ret float %19
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_cbrt_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call i1 @llvm.is.fpclass.f32(float %0, i32 615)
  br i1 %2, label %14, label %3

3:                                                ; preds = %1
  %4 = tail call float @llvm.fabs.f32(float %0)
  %5 = tail call float @llvm.log2.f32(float %4)
  %6 = fmul float %5, 0x3FD5555560000000
  %7 = tail call float @llvm.exp2.f32(float %6)
  %8 = fmul float %7, %7
  %9 = fdiv float %4, %8
  %10 = fsub float %7, %9
  %11 = fmul float %10, 0x3FD5555560000000
  %12 = fsub float %7, %11
  %13 = tail call float @llvm.copysign.f32(float %12, float %0)
  br label %14

14:                                               ; preds = %1, %3
  %15 = phi float [ %13, %3 ], [ %0, %1 ]
  ret float %15
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_hypot_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %0)
  %4 = tail call float @llvm.fabs.f32(float %1)
  %5 = tail call float @llvm.maxnum.f32(float %3, float %4)
  %6 = tail call float @llvm.minnum.f32(float %3, float %4)
  %7 = fcmp oeq float %3, 0x7FF0000000000000
  %8 = fcmp oeq float %4, 0x7FF0000000000000
  %9 = or i1 %7, %8
  br i1 %9, label %25, label %10

10:                                               ; preds = %2
  %11 = fcmp uno float %0, %1
  br i1 %11, label %12, label %14

12:                                               ; preds = %10
  %13 = fadd float %0, %1
  br label %25

14:                                               ; preds = %10
  %15 = fcmp oeq float %5, 0.000000e+00
  br i1 %15, label %25, label %16

16:                                               ; preds = %14
  %17 = tail call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %5)
  %18 = sub nsw i32 0, %17
  %19 = tail call float @llvm.ldexp.f32.i32(float %5, i32 %18)
  %20 = tail call float @llvm.ldexp.f32.i32(float %6, i32 %18)
  %21 = fmul float %20, %20
  %22 = tail call float @llvm.fma.f32(float %19, float %19, float %21)
  %23 = tail call float @llvm.sqrt.f32(float %22)
  %24 = tail call float @llvm.ldexp.f32.i32(float %23, i32 %17)
  br label %25

25:                                               ; preds = %14, %2, %16, %12
  %26 = phi float [ %13, %12 ], [ %24, %16 ], [ 0x7FF0000000000000, %2 ], [ %5, %14 ]
  ret float %26
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_remainder_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = tail call float @llvm.fabs.f32(float %1)
  %4 = fmul float %3, 2.000000e+00
  %5 = frem float %0, %4
  %6 = tail call float @llvm.fabs.f32(float %5)
  %7 = tail call float @llvm.fabs.f32(float %4)
  %8 = fcmp oeq float %7, 0x7FF0000000000000
  %9 = tail call float @llvm.fabs.f32(float %0)
  %10 = select i1 %8, float %9, float %6
  %11 = fcmp oeq float %9, 0x7FF0000000000000
  %12 = fcmp oeq float %1, 0.000000e+00
  %13 = or i1 %11, %12
  %14 = fcmp uno float %1, %0
  %15 = or i1 %14, %13
  br i1 %15, label %35, label %16

16:                                               ; preds = %2
  %17 = fmul float %3, 5.000000e-01
  %18 = fcmp ogt float %10, %17
  br i1 %18, label %24, label %19

19:                                               ; preds = %16
  %20 = fcmp olt float %3, 0x3841039D40000000
  %21 = fadd float %10, %10
  %22 = fcmp ogt float %21, %3
  %23 = and i1 %20, %22
  br i1 %23, label %24, label %29

24:                                               ; preds = %19, %16
  %25 = fsub float %10, %3
  %26 = fcmp ult float %25, %17
  br i1 %26, label %29, label %27

27:                                               ; preds = %24
  %28 = fsub float %25, %3
  br label %29

29:                                               ; preds = %24, %27, %19
  %30 = phi float [ %28, %27 ], [ %25, %24 ], [ %10, %19 ]
  %31 = bitcast float %0 to i32
  %32 = icmp slt i32 %31, 0
  %33 = fneg float %30
  %34 = select i1 %32, float %33, float %30
  br label %35

35:                                               ; preds = %2, %29
  %36 = phi float [ %34, %29 ], [ 0x7FF8000000000000, %2 ]
  ret float %36
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_nextafter_f32(float noundef %0, float noundef %1) local_unnamed_addr #0 {
  %3 = fcmp uno float %0, %1
  br i1 %3, label %4, label %6

4:                                                ; preds = %2
  %5 = fadd float %0, %1
  br label %20

6:                                                ; preds = %2
  %7 = fcmp oeq float %0, %1
  br i1 %7, label %20, label %8

8:                                                ; preds = %6
  %9 = fcmp oeq float %0, 0.000000e+00
  br i1 %9, label %10, label %12

10:                                               ; preds = %8
  %11 = tail call float @llvm.copysign.f32(float 0x36A0000000000000, float %1)
  br label %20

12:                                               ; preds = %8
  %13 = bitcast float %0 to i32
  %14 = fcmp olt float %0, %1
  %15 = fcmp ule float %0, 0.000000e+00
  %16 = xor i1 %15, %14
  %17 = select i1 %16, i32 1, i32 -1
  %18 = add nsw i32 %17, %13
  %19 = bitcast i32 %18 to float
  br label %20

20:                                               ; preds = %10, %12, %6, %4
  %21 = phi float [ %5, %4 ], [ %1, %6 ], [ %11, %10 ], [ %19, %12 ]
  ret float %21
}

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_sin_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fmul float %0, 0x3FC45F3060000000
  %3 = tail call float @llvm.amdgcn.sin.f32(float %2)
  ret float %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.sin.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_cos_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fmul float %0, 0x3FC45F3060000000
  %3 = tail call float @llvm.amdgcn.cos.f32(float %2)
  ret float %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.cos.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_recip_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.amdgcn.rcp.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.rcp.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_sqrt_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.amdgcn.sqrt.f32(float %0)
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.sqrt.f32(float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_rsqrt_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.amdgcn.rsq.f32(float %0)
  ret float %2
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_exp2_f32(float noundef %0) local_unnamed_addr #2 {
  %2 = tail call float @llvm.amdgcn.exp2.f32(float noundef %0) #3
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.exp2.f32(float) #1

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_exp_f32(float noundef %0) local_unnamed_addr #2 {
  %2 = fmul float %0, 0x3FF7154760000000
  %3 = tail call float @llvm.amdgcn.exp2.f32(float noundef %2) #3
  ret float %3
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_exp10_f32(float noundef %0) local_unnamed_addr #2 {
  %2 = fmul float %0, 0x400A934F00000000
  %3 = tail call float @llvm.amdgcn.exp2.f32(float noundef %2) #3
  ret float %3
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_log2_f32(float noundef %0) local_unnamed_addr #2 {
  %2 = tail call float @llvm.amdgcn.log.f32(float noundef %0) #3
  ret float %2
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.amdgcn.log.f32(float) #1

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_log_f32(float noundef %0) local_unnamed_addr #2 {
  %2 = tail call float @llvm.amdgcn.log.f32(float noundef %0) #3
  %3 = fmul float %2, 0x3FE62E4300000000
  ret float %3
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_native_log10_f32(float noundef %0) local_unnamed_addr #2 {
  %2 = tail call float @llvm.amdgcn.log.f32(float noundef %0) #3
  %3 = fmul float %2, 0x3FD3441360000000
  ret float %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.floor.f32(float) #1

attributes #0 = { alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none) "amdgpu-no-agpr" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { alwaysinline convergent mustprogress nofree norecurse nosync nounwind willreturn memory(none) "amdgpu-no-agpr" "amdgpu-no-completion-action" "amdgpu-no-default-queue" "amdgpu-no-dispatch-id" "amdgpu-no-dispatch-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-hostcall-ptr" "amdgpu-no-implicitarg-ptr" "amdgpu-no-lds-kernel-id" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-queue-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-x" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #3 = { convergent nounwind willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 2}
!5 = !{!6, !6, i64 0}
!6 = !{!"int", !7, i64 0}
!7 = !{!"omnipotent char", !8, i64 0}
!8 = !{!"Simple C++ TBAA"}
