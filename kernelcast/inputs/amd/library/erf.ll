; ModuleID = 'erf.hip'
source_filename = "erf.hip"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_erf_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp olt float %2, 1.000000e+00
  br i1 %3, label %4, label %13

4:                                                ; preds = %1
  %5 = fmul float %0, %0
  %6 = tail call float @llvm.fma.f32(float %5, float 0x3F1496B6C0000000, float 0xBF4A3F7800000000)
  %7 = tail call float @llvm.fma.f32(float %5, float %6, float 0x3F75405C60000000)
  %8 = tail call float @llvm.fma.f32(float %5, float %7, float 0xBF9B7F9100000000)
  %9 = tail call float @llvm.fma.f32(float %5, float %8, float 0x3FBCE2CF80000000)
  %10 = tail call float @llvm.fma.f32(float %5, float %9, float 0xBFD81273E0000000)
  %11 = tail call float @llvm.fma.f32(float %5, float %10, float 0x3FC06EBA80000000)
  %12 = tail call float @llvm.fma.f32(float %0, float %11, float %0)
  br label %27

13:                                               ; preds = %1
  %14 = fcmp uno float %0, 0.000000e+00
  br i1 %14, label %27, label %15

15:                                               ; preds = %13
  %16 = tail call float @llvm.minnum.f32(float %2, float 4.000000e+00)
  %17 = tail call float @llvm.fma.f32(float %16, float 0xBF286DDBA0000000, float 0x3F6825B180000000)
  %18 = tail call float @llvm.fma.f32(float %16, float %17, float 0xBF965CB860000000)
  %19 = tail call float @llvm.fma.f32(float %16, float %18, float 0x3FBA6534A0000000)
  %20 = tail call float @llvm.fma.f32(float %16, float %19, float 0x3FE46BAEA0000000)
  %21 = tail call float @llvm.fma.f32(float %16, float %20, float 0x3FF2088EC0000000)
  %22 = tail call float @llvm.fma.f32(float %16, float %21, float 0x3F3661BF80000000)
  %23 = fneg float %22
  %24 = tail call float @llvm.exp.f32(float %23)
  %25 = fsub float 1.000000e+00, %24
  %26 = tail call float @llvm.copysign.f32(float %25, float %0)
  br label %27

27:                                               ; preds = %15, %13, %4
  %28 = phi float [ %12, %4 ], [ %26, %15 ], [ %0, %13 ]
  ret float %28
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fabs.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.minnum.f32(float, float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.exp.f32(float) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.copysign.f32(float, float) #1

; Function Attrs: alwaysinline mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define hidden float @__ocml_erfc_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = tail call float @llvm.fabs.f32(float %0)
  %3 = fcmp olt float %2, 8.437500e-01
  br i1 %3, label %4, label %18

4:                                                ; preds = %1
  %5 = fmul float %0, %0
  %6 = tail call float @llvm.fma.f32(float %5, float 0xBEF8EAD620000000, float 0xBF77A29120000000)
  %7 = tail call float @llvm.fma.f32(float %5, float %6, float 0xBF9D2A51E0000000)
  %8 = tail call float @llvm.fma.f32(float %5, float %7, float 0xBFD4CD7D60000000)
  %9 = tail call float @llvm.fma.f32(float %5, float %8, float 0x3FC06EBA80000000)
  %10 = tail call float @llvm.fma.f32(float %5, float 0xBED09C4340000000, float 0x3F215DC920000000)
  %11 = tail call float @llvm.fma.f32(float %5, float %10, float 0x3F74D022C0000000)
  %12 = tail call float @llvm.fma.f32(float %5, float %11, float 0x3FB0A54C60000000)
  %13 = tail call float @llvm.fma.f32(float %5, float %12, float 0x3FD97779C0000000)
  %14 = tail call float @llvm.fma.f32(float %5, float %13, float 1.000000e+00)
  %15 = fdiv float %9, %14
  %16 = tail call float @llvm.fma.f32(float %0, float %15, float %0)
  %17 = fsub float 1.000000e+00, %16
  br label %95

18:                                               ; preds = %1
  %19 = fcmp olt float %2, 1.100000e+01
  br i1 %19, label %20, label %88

20:                                               ; preds = %18
  %21 = fcmp olt float %2, 1.250000e+00
  br i1 %21, label %22, label %38

22:                                               ; preds = %20
  %23 = fadd float %2, -1.000000e+00
  %24 = tail call float @llvm.fma.f32(float %23, float 0xBF61BF3800000000, float 0x3FA22A3660000000)
  %25 = tail call float @llvm.fma.f32(float %23, float %24, float 0xBFBC639840000000)
  %26 = tail call float @llvm.fma.f32(float %23, float %25, float 0x3FD45FCA80000000)
  %27 = tail call float @llvm.fma.f32(float %23, float %26, float 0xBFD7D24100000000)
  %28 = tail call float @llvm.fma.f32(float %23, float %27, float 0x3FDA8D00A0000000)
  %29 = tail call float @llvm.fma.f32(float %23, float %28, float 0xBF6359B8C0000000)
  %30 = tail call float @llvm.fma.f32(float %23, float 0x3F888B5460000000, float 0x3F8BEDC260000000)
  %31 = tail call float @llvm.fma.f32(float %23, float %30, float 0x3FC02660E0000000)
  %32 = tail call float @llvm.fma.f32(float %23, float %31, float 0x3FB2635CE0000000)
  %33 = tail call float @llvm.fma.f32(float %23, float %32, float 0x3FE14AF0A0000000)
  %34 = tail call float @llvm.fma.f32(float %23, float %33, float 0x3FBB3E6620000000)
  %35 = tail call float @llvm.fma.f32(float %23, float %34, float 1.000000e+00)
  %36 = fdiv float %29, %35
  %37 = fsub float 0x3FC3D4FA80000000, %36
  br label %88

38:                                               ; preds = %20
  %39 = fmul float %0, %0
  %40 = fdiv float 1.000000e+00, %39
  %41 = fcmp olt float %2, 0x4006DB6DC0000000
  br i1 %41, label %42, label %57

42:                                               ; preds = %38
  %43 = tail call float @llvm.fma.f32(float %40, float 0xC023A0EFC0000000, float 0xC054526560000000)
  %44 = tail call float @llvm.fma.f32(float %40, float %43, float 0xC067135CE0000000)
  %45 = tail call float @llvm.fma.f32(float %40, float %44, float 0xC0644CB180000000)
  %46 = tail call float @llvm.fma.f32(float %40, float %45, float 0xC04F300AE0000000)
  %47 = tail call float @llvm.fma.f32(float %40, float %46, float 0xC0251E0440000000)
  %48 = tail call float @llvm.fma.f32(float %40, float %47, float 0xBFE63416E0000000)
  %49 = tail call float @llvm.fma.f32(float %40, float %48, float 0xBF84341260000000)
  %50 = tail call float @llvm.fma.f32(float %40, float 0xBFAEEFF2E0000000, float 0x401A47EF80000000)
  %51 = tail call float @llvm.fma.f32(float %40, float %50, float 0x405B28A3E0000000)
  %52 = tail call float @llvm.fma.f32(float %40, float %51, float 0x407AD02160000000)
  %53 = tail call float @llvm.fma.f32(float %40, float %52, float 0x40842B1920000000)
  %54 = tail call float @llvm.fma.f32(float %40, float %53, float 0x407B290DE0000000)
  %55 = tail call float @llvm.fma.f32(float %40, float %54, float 0x4061350C60000000)
  %56 = tail call float @llvm.fma.f32(float %40, float %55, float 0x4033A6B9C0000000)
  br label %70

57:                                               ; preds = %38
  %58 = tail call float @llvm.fma.f32(float %40, float 0xC07E384EA0000000, float 0xC090046160000000)
  %59 = tail call float @llvm.fma.f32(float %40, float %58, float 0xC083EC8820000000)
  %60 = tail call float @llvm.fma.f32(float %40, float %59, float 0xC064145D40000000)
  %61 = tail call float @llvm.fma.f32(float %40, float %60, float 0xC031C20960000000)
  %62 = tail call float @llvm.fma.f32(float %40, float %61, float 0xBFE993BA80000000)
  %63 = tail call float @llvm.fma.f32(float %40, float %62, float 0xBF84341240000000)
  %64 = tail call float @llvm.fma.f32(float %40, float 0xC03670E240000000, float 0x407DA874E0000000)
  %65 = tail call float @llvm.fma.f32(float %40, float %64, float 0x40A3F219C0000000)
  %66 = tail call float @llvm.fma.f32(float %40, float %65, float 0x40A8FFB760000000)
  %67 = tail call float @llvm.fma.f32(float %40, float %66, float 0x409802EB20000000)
  %68 = tail call float @llvm.fma.f32(float %40, float %67, float 0x40745CAE20000000)
  %69 = tail call float @llvm.fma.f32(float %40, float %68, float 0x403E568B20000000)
  br label %70

70:                                               ; preds = %57, %42
  %71 = phi float [ %69, %57 ], [ %56, %42 ]
  %72 = phi float [ %63, %57 ], [ %49, %42 ]
  %73 = tail call float @llvm.fma.f32(float %40, float %71, float 1.000000e+00)
  %74 = bitcast float %2 to i32
  %75 = and i32 %74, 2147475456
  %76 = bitcast i32 %75 to float
  %77 = fneg float %76
  %78 = tail call float @llvm.fma.f32(float %77, float %76, float -5.625000e-01)
  %79 = tail call float @llvm.exp.f32(float %78)
  %80 = fsub float %76, %2
  %81 = fadd float %2, %76
  %82 = fmul float %80, %81
  %83 = fdiv float %72, %73
  %84 = fadd float %82, %83
  %85 = tail call float @llvm.exp.f32(float %84)
  %86 = fmul float %79, %85
  %87 = fdiv float %86, %2
  br label %88

88:                                               ; preds = %70, %22, %18
  %89 = phi float [ 0.000000e+00, %18 ], [ %37, %22 ], [ %87, %70 ]
  %90 = fcmp uno float %0, 0.000000e+00
  %91 = fcmp olt float %0, 0.000000e+00
  %92 = fsub float 2.000000e+00, %89
  %93 = select i1 %91, float %92, float %89
  %94 = select i1 %90, float %0, float %93
  br label %95

95:                                               ; preds = %88, %4
  %96 = phi float [ %17, %4 ], [ %94, %88 ]
  ret float %96
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_erf_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp olt double %2, 1.000000e+00
  br i1 %3, label %4, label %32

4:                                                ; preds = %1
  %5 = fneg double %0
  %6 = fmul double %5, %0
  %7 = tail call double @llvm.fma.f64(double %6, double 0.000000e+00, double 0x3B813246ABCE1BDE)
  %8 = tail call double @llvm.fma.f64(double %7, double %6, double 0x3BC7ABD72258FB6E)
  %9 = tail call double @llvm.fma.f64(double %8, double %6, double 0x3C0F1B4073B34A67)
  %10 = tail call double @llvm.fma.f64(double %9, double %6, double 0x3C5377C2110F2083)
  %11 = tail call double @llvm.fma.f64(double %10, double %6, double 0x3C97271CBE5863EC)
  %12 = tail call double @llvm.fma.f64(double %11, double %6, double 0x3CDA173A167FBA4D)
  %13 = tail call double @llvm.fma.f64(double %12, double %6, double 0x3D1BC6250FB14231)
  %14 = tail call double @llvm.fma.f64(double %13, double %6, double 0x3D5BD577E658D020)
  %15 = tail call double @llvm.fma.f64(double %14, double %6, double 0x3D9A289EE7E40F73)
  %16 = tail call double @llvm.fma.f64(double %15, double %6, double 0x3DD6F448E13E85E1)
  %17 = tail call double @llvm.fma.f64(double %16, double %6, double 0x3E12B67310AA9F3A)
  %18 = tail call double @llvm.fma.f64(double %17, double %6, double 0x3E4C2E3054870B37)
  %19 = tail call double @llvm.fma.f64(double %18, double %6, double 0x3E83777C55568CCD)
  %20 = tail call double @llvm.fma.f64(double %19, double %6, double 0x3EB87A00187A0018)
  %21 = tail call double @llvm.fma.f64(double %20, double %6, double 0x3EEBBD779334EF0B)
  %22 = tail call double @llvm.fma.f64(double %21, double %6, double 0x3F1C01C01C01C01C)
  %23 = tail call double @llvm.fma.f64(double %22, double %6, double 0x3F48D3018D3018D3)
  %24 = tail call double @llvm.fma.f64(double %23, double %6, double 0x3F72F684BDA12F68)
  %25 = tail call double @llvm.fma.f64(double %24, double %6, double 0x3F98618618618618)
  %26 = tail call double @llvm.fma.f64(double %25, double %6, double 1.000000e-01)
  %27 = tail call double @llvm.fma.f64(double %26, double %6, double 0x3FD5555555555555)
  %28 = fmul double %27, %6
  %29 = tail call double @llvm.fma.f64(double %28, double %0, double %0)
  %30 = fmul double %29, 0x3C71AE3A914FED80
  %31 = tail call noundef double @llvm.fma.f64(double %29, double 0x3FF20DD750429B6D, double %30)
  br label %77

32:                                               ; preds = %1
  %33 = fcmp olt double %2, 6.000000e+00
  br i1 %33, label %34, label %71

34:                                               ; preds = %32
  %35 = fadd double %2, -3.000000e+00
  %36 = fadd double %2, 3.000000e+00
  %37 = fdiv double %35, %36
  %38 = tail call double @llvm.fma.f64(double %37, double 0xBDE2892EB180F921, double 0x3DE691AD124A068E)
  %39 = tail call double @llvm.fma.f64(double %38, double %37, double 0x3E1C6A4AAFB2A455)
  %40 = tail call double @llvm.fma.f64(double %39, double %37, double 0xBE10CEAB3C19E071)
  %41 = tail call double @llvm.fma.f64(double %40, double %37, double 0xBE47A5CB3EA32394)
  %42 = tail call double @llvm.fma.f64(double %41, double %37, double 0xBE10DE28ADC31B97)
  %43 = tail call double @llvm.fma.f64(double %42, double %37, double 0x3E6D754C75CC0C3A)
  %44 = tail call double @llvm.fma.f64(double %43, double %37, double 0x3E68BA264C4DF850)
  %45 = tail call double @llvm.fma.f64(double %44, double %37, double 0xBE8FE41FBD66FD0A)
  %46 = tail call double @llvm.fma.f64(double %45, double %37, double 0xBE9B60A0F57088EC)
  %47 = tail call double @llvm.fma.f64(double %46, double %37, double 0x3EB0CCD95E1BA1C1)
  %48 = tail call double @llvm.fma.f64(double %47, double %37, double 0x3EC732A3254D888B)
  %49 = tail call double @llvm.fma.f64(double %48, double %37, double 0xBED3EC7E102AF85C)
  %50 = tail call double @llvm.fma.f64(double %49, double %37, double 0xBEF251B91BE03B8C)
  %51 = tail call double @llvm.fma.f64(double %50, double %37, double 0x3EFFE003338D1082)
  %52 = tail call double @llvm.fma.f64(double %51, double %37, double 0x3F1C32546D0402F9)
  %53 = tail call double @llvm.fma.f64(double %52, double %37, double 0xBF32238FF9B7F303)
  %54 = tail call double @llvm.fma.f64(double %53, double %37, double 0xBF41F78E1A4B701A)
  %55 = tail call double @llvm.fma.f64(double %54, double %37, double 0x3F68DAE3A2C574FE)
  %56 = tail call double @llvm.fma.f64(double %55, double %37, double 0xBF53DD3E70BB42BB)
  %57 = tail call double @llvm.fma.f64(double %56, double %37, double 0xBF9B78993D6BB57D)
  %58 = tail call double @llvm.fma.f64(double %57, double %37, double 0x3FBE995F11B16284)
  %59 = tail call double @llvm.fma.f64(double %58, double %37, double 0xBFD3DEB21415DC7B)
  %60 = tail call double @llvm.fma.f64(double %59, double %37, double 0x3FE2E326945DE2BF)
  %61 = tail call double @llvm.fma.f64(double %60, double %37, double 0xBFEC44C471BAA376)
  %62 = tail call double @llvm.fma.f64(double %61, double %37, double 0x3FF12F21DDD9F5E2)
  %63 = fneg double %2
  %64 = fmul double %2, %63
  %65 = tail call double @llvm.fma.f64(double %0, double %0, double %64)
  %66 = tail call double @__ocml_exp_f64(double noundef %64) #4
  %67 = fneg double %65
  %68 = tail call double @llvm.fma.f64(double %67, double %66, double %66)
  %69 = fmul double %62, %68
  %70 = fdiv double %69, %36
  br label %71

71:                                               ; preds = %32, %34
  %72 = phi double [ %70, %34 ], [ 0.000000e+00, %32 ]
  %73 = fcmp uno double %0, 0.000000e+00
  %74 = fsub double 1.000000e+00, %72
  %75 = tail call double @llvm.copysign.f64(double %74, double %0)
  %76 = select i1 %73, double %0, double %75
  br label %77

77:                                               ; preds = %71, %4
  %78 = phi double [ %31, %4 ], [ %76, %71 ]
  ret double %78
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.copysign.f64(double, double) #1

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_erfc_f64(double noundef %0) local_unnamed_addr #2 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp olt double %2, 5.000000e-01
  br i1 %3, label %4, label %33

4:                                                ; preds = %1
  %5 = fneg double %0
  %6 = fmul double %5, %0
  %7 = tail call double @llvm.fma.f64(double %6, double 0.000000e+00, double 0x3B813246ABCE1BDE)
  %8 = tail call double @llvm.fma.f64(double %7, double %6, double 0x3BC7ABD72258FB6E)
  %9 = tail call double @llvm.fma.f64(double %8, double %6, double 0x3C0F1B4073B34A67)
  %10 = tail call double @llvm.fma.f64(double %9, double %6, double 0x3C5377C2110F2083)
  %11 = tail call double @llvm.fma.f64(double %10, double %6, double 0x3C97271CBE5863EC)
  %12 = tail call double @llvm.fma.f64(double %11, double %6, double 0x3CDA173A167FBA4D)
  %13 = tail call double @llvm.fma.f64(double %12, double %6, double 0x3D1BC6250FB14231)
  %14 = tail call double @llvm.fma.f64(double %13, double %6, double 0x3D5BD577E658D020)
  %15 = tail call double @llvm.fma.f64(double %14, double %6, double 0x3D9A289EE7E40F73)
  %16 = tail call double @llvm.fma.f64(double %15, double %6, double 0x3DD6F448E13E85E1)
  %17 = tail call double @llvm.fma.f64(double %16, double %6, double 0x3E12B67310AA9F3A)
  %18 = tail call double @llvm.fma.f64(double %17, double %6, double 0x3E4C2E3054870B37)
  %19 = tail call double @llvm.fma.f64(double %18, double %6, double 0x3E83777C55568CCD)
  %20 = tail call double @llvm.fma.f64(double %19, double %6, double 0x3EB87A00187A0018)
  %21 = tail call double @llvm.fma.f64(double %20, double %6, double 0x3EEBBD779334EF0B)
  %22 = tail call double @llvm.fma.f64(double %21, double %6, double 0x3F1C01C01C01C01C)
  %23 = tail call double @llvm.fma.f64(double %22, double %6, double 0x3F48D3018D3018D3)
  %24 = tail call double @llvm.fma.f64(double %23, double %6, double 0x3F72F684BDA12F68)
  %25 = tail call double @llvm.fma.f64(double %24, double %6, double 0x3F98618618618618)
  %26 = tail call double @llvm.fma.f64(double %25, double %6, double 1.000000e-01)
  %27 = tail call double @llvm.fma.f64(double %26, double %6, double 0x3FD5555555555555)
  %28 = fmul double %27, %6
  %29 = tail call double @llvm.fma.f64(double %28, double %0, double %0)
  %30 = fmul double %29, 0x3C71AE3A914FED80
  %31 = tail call noundef double @llvm.fma.f64(double %29, double 0x3FF20DD750429B6D, double %30)
  %32 = fsub double 1.000000e+00, %31
  br label %79

33:                                               ; preds = %1
  %34 = fcmp olt double %2, 2.800000e+01
  br i1 %34, label %35, label %72

35:                                               ; preds = %33
  %36 = fadd double %2, -3.000000e+00
  %37 = fadd double %2, 3.000000e+00
  %38 = fdiv double %36, %37
  %39 = tail call double @llvm.fma.f64(double %38, double 0xBDE2892EB180F921, double 0x3DE691AD124A068E)
  %40 = tail call double @llvm.fma.f64(double %39, double %38, double 0x3E1C6A4AAFB2A455)
  %41 = tail call double @llvm.fma.f64(double %40, double %38, double 0xBE10CEAB3C19E071)
  %42 = tail call double @llvm.fma.f64(double %41, double %38, double 0xBE47A5CB3EA32394)
  %43 = tail call double @llvm.fma.f64(double %42, double %38, double 0xBE10DE28ADC31B97)
  %44 = tail call double @llvm.fma.f64(double %43, double %38, double 0x3E6D754C75CC0C3A)
  %45 = tail call double @llvm.fma.f64(double %44, double %38, double 0x3E68BA264C4DF850)
  %46 = tail call double @llvm.fma.f64(double %45, double %38, double 0xBE8FE41FBD66FD0A)
  %47 = tail call double @llvm.fma.f64(double %46, double %38, double 0xBE9B60A0F57088EC)
  %48 = tail call double @llvm.fma.f64(double %47, double %38, double 0x3EB0CCD95E1BA1C1)
  %49 = tail call double @llvm.fma.f64(double %48, double %38, double 0x3EC732A3254D888B)
  %50 = tail call double @llvm.fma.f64(double %49, double %38, double 0xBED3EC7E102AF85C)
  %51 = tail call double @llvm.fma.f64(double %50, double %38, double 0xBEF251B91BE03B8C)
  %52 = tail call double @llvm.fma.f64(double %51, double %38, double 0x3EFFE003338D1082)
  %53 = tail call double @llvm.fma.f64(double %52, double %38, double 0x3F1C32546D0402F9)
  %54 = tail call double @llvm.fma.f64(double %53, double %38, double 0xBF32238FF9B7F303)
  %55 = tail call double @llvm.fma.f64(double %54, double %38, double 0xBF41F78E1A4B701A)
  %56 = tail call double @llvm.fma.f64(double %55, double %38, double 0x3F68DAE3A2C574FE)
  %57 = tail call double @llvm.fma.f64(double %56, double %38, double 0xBF53DD3E70BB42BB)
  %58 = tail call double @llvm.fma.f64(double %57, double %38, double 0xBF9B78993D6BB57D)
  %59 = tail call double @llvm.fma.f64(double %58, double %38, double 0x3FBE995F11B16284)
  %60 = tail call double @llvm.fma.f64(double %59, double %38, double 0xBFD3DEB21415DC7B)
  %61 = tail call double @llvm.fma.f64(double %60, double %38, double 0x3FE2E326945DE2BF)
  %62 = tail call double @llvm.fma.f64(double %61, double %38, double 0xBFEC44C471BAA376)
  %63 = tail call double @llvm.fma.f64(double %62, double %38, double 0x3FF12F21DDD9F5E2)
  %64 = fneg double %2
  %65 = fmul double %2, %64
  %66 = tail call double @llvm.fma.f64(double %0, double %0, double %65)
  %67 = tail call double @__ocml_exp_f64(double noundef %65) #4
  %68 = fneg double %66
  %69 = tail call double @llvm.fma.f64(double %68, double %67, double %67)
  %70 = fmul double %63, %69
  %71 = fdiv double %70, %37
  br label %72

72:                                               ; preds = %33, %35
  %73 = phi double [ %71, %35 ], [ 0.000000e+00, %33 ]
  %74 = fcmp uno double %0, 0.000000e+00
  %75 = fcmp olt double %0, 0.000000e+00
  %76 = fsub double 2.000000e+00, %73
  %77 = select i1 %75, double %76, double %73
  %78 = select i1 %74, double %0, double %77
  br label %79

79:                                               ; preds = %72, %4
  %80 = phi double [ %32, %4 ], [ %78, %72 ]
  ret double %80
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_exp_f64(double noundef) local_unnamed_addr #3

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
