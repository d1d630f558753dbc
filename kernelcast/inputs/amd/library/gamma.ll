; ModuleID = 'gamma.hip'
source_filename = "gamma.hip"
target datalayout = "e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@__oclc_ABI_version = weak_odr hidden local_unnamed_addr addrspace(4) constant i32 500

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_tgamma_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = fcmp oeq double %0, 0.000000e+00
  br i1 %2, label %3, label %5

3:                                                ; preds = %1
  %4 = tail call double @llvm.copysign.f64(double 0x7FF0000000000000, double %0)
  br label %178

5:                                                ; preds = %1
  %6 = fcmp olt double %0, 0.000000e+00
  %7 = tail call double @llvm.trunc.f64(double %0)
  %8 = fcmp oeq double %7, %0
  %9 = and i1 %6, %8
  br i1 %9, label %178, label %10

10:                                               ; preds = %5
  %11 = fcmp uno double %0, 0.000000e+00
  %12 = fcmp ogt double %0, 1.000000e+03
  %13 = or i1 %11, %12
  %14 = fcmp ogt double %0, 0.000000e+00
  br i1 %13, label %15, label %17

15:                                               ; preds = %10
  %16 = select i1 %14, double 0x7FF0000000000000, double %0
  br label %178

17:                                               ; preds = %10
  br i1 %14, label %18, label %94

18:                                               ; preds = %17
  %19 = fsub double 1.000000e+01, %0
  %20 = tail call double @llvm.ceil.f64(double %19)
  %21 = tail call double @llvm.maxnum.f64(double %20, double 0.000000e+00)
  %22 = fcmp ogt double %21, 0.000000e+00
  %23 = select i1 %22, double %0, double 1.000000e+00
  %24 = fcmp ogt double %21, 1.000000e+00
  %25 = fadd double %0, 1.000000e+00
  %26 = select i1 %24, double %25, double 1.000000e+00
  %27 = fmul double %23, %26
  %28 = fcmp ogt double %21, 2.000000e+00
  %29 = fadd double %0, 2.000000e+00
  %30 = fmul double %27, %29
  %31 = select i1 %28, double %30, double %27
  %32 = fcmp ogt double %21, 3.000000e+00
  %33 = fadd double %0, 3.000000e+00
  %34 = fmul double %31, %33
  %35 = select i1 %32, double %34, double %31
  %36 = fcmp ogt double %21, 4.000000e+00
  %37 = fadd double %0, 4.000000e+00
  %38 = fmul double %35, %37
  %39 = select i1 %36, double %38, double %35
  %40 = fcmp ogt double %21, 5.000000e+00
  %41 = fadd double %0, 5.000000e+00
  %42 = fmul double %39, %41
  %43 = select i1 %40, double %42, double %39
  %44 = fcmp ogt double %21, 6.000000e+00
  %45 = fadd double %0, 6.000000e+00
  %46 = fmul double %43, %45
  %47 = select i1 %44, double %46, double %43
  %48 = fcmp ogt double %21, 7.000000e+00
  %49 = fadd double %0, 7.000000e+00
  %50 = fmul double %47, %49
  %51 = select i1 %48, double %50, double %47
  %52 = fcmp ogt double %21, 8.000000e+00
  %53 = fadd double %0, 8.000000e+00
  %54 = fmul double %51, %53
  %55 = select i1 %52, double %54, double %51
  %56 = fcmp ogt double %21, 9.000000e+00
  %57 = fadd double %0, 9.000000e+00
  %58 = fmul double %55, %57
  %59 = select i1 %56, double %58, double %55
  %60 = fadd double %21, %0
  br i1 %22, label %61, label %70

61:                                               ; preds = %18
  %62 = fsub double %21, %60
  %63 = fadd double %62, %0
  %64 = fmul double %63, %59
  %65 = fadd double %60, -1.000000e+01
  %66 = fmul double %65, 1.000000e-01
  %67 = fadd double %66, 0x40020396DC85CC95
  %68 = fmul double %67, %64
  %69 = fsub double %59, %68
  br label %70

70:                                               ; preds = %18, %61
  %71 = phi double [ %69, %61 ], [ %59, %18 ]
  %72 = fmul double %60, 5.000000e-01
  %73 = fadd double %72, -2.500000e-01
  %74 = tail call double @__ocml_pow_f64(double noundef %60, double noundef %73) #3
  %75 = fmul double %60, %60
  %76 = fdiv double 1.000000e+00, %75
  %77 = tail call double @llvm.fma.f64(double %76, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %78 = tail call double @llvm.fma.f64(double %77, double %76, double 0x3F4B951E2B18FF23)
  %79 = tail call double @llvm.fma.f64(double %78, double %76, double 0xBF43813813813814)
  %80 = tail call double @llvm.fma.f64(double %79, double %76, double 0x3F4A01A01A01A01A)
  %81 = tail call double @llvm.fma.f64(double %80, double %76, double 0xBF66C16C16C16C17)
  %82 = tail call double @llvm.fma.f64(double %81, double %76, double 0x3FB5555555555555)
  %83 = fdiv double %82, %60
  %84 = tail call double @__ocml_exp_f64(double noundef %83) #3
  %85 = fneg double %60
  %86 = tail call double @__ocml_exp_f64(double noundef %85) #3
  %87 = fcmp ogt double %0, 1.720000e+02
  br i1 %87, label %178, label %88

88:                                               ; preds = %70
  %89 = fmul double %74, 0x40040D931FF62705
  %90 = fmul double %89, %86
  %91 = fmul double %74, %90
  %92 = fmul double %84, %91
  %93 = fdiv double %92, %71
  br label %178

94:                                               ; preds = %17
  %95 = fcmp olt double %0, -1.840000e+02
  br i1 %95, label %178, label %96

96:                                               ; preds = %94
  %97 = fsub double 1.000000e+00, %0
  %98 = fsub double 1.000000e+01, %97
  %99 = tail call double @llvm.ceil.f64(double %98)
  %100 = tail call double @llvm.maxnum.f64(double %99, double 0.000000e+00)
  %101 = fcmp ogt double %100, 0.000000e+00
  %102 = select i1 %101, double %97, double 1.000000e+00
  %103 = fcmp ogt double %100, 1.000000e+00
  %104 = fadd double %97, 1.000000e+00
  %105 = fmul double %102, %104
  %106 = select i1 %103, double %105, double %102
  %107 = fcmp ogt double %100, 2.000000e+00
  %108 = fadd double %97, 2.000000e+00
  %109 = fmul double %106, %108
  %110 = select i1 %107, double %109, double %106
  %111 = fcmp ogt double %100, 3.000000e+00
  %112 = fadd double %97, 3.000000e+00
  %113 = fmul double %110, %112
  %114 = select i1 %111, double %113, double %110
  %115 = fcmp ogt double %100, 4.000000e+00
  %116 = fadd double %97, 4.000000e+00
  %117 = fmul double %114, %116
  %118 = select i1 %115, double %117, double %114
  %119 = fcmp ogt double %100, 5.000000e+00
  %120 = fadd double %97, 5.000000e+00
  %121 = fmul double %118, %120
  %122 = select i1 %119, double %121, double %118
  %123 = fcmp ogt double %100, 6.000000e+00
  %124 = fadd double %97, 6.000000e+00
  %125 = fmul double %122, %124
  %126 = select i1 %123, double %125, double %122
  %127 = fcmp ogt double %100, 7.000000e+00
  %128 = fadd double %97, 7.000000e+00
  %129 = fmul double %126, %128
  %130 = select i1 %127, double %129, double %126
  %131 = fcmp ogt double %100, 8.000000e+00
  %132 = fadd double %97, 8.000000e+00
  %133 = fmul double %130, %132
  %134 = select i1 %131, double %133, double %130
  %135 = fcmp ogt double %100, 9.000000e+00
  %136 = fadd double %97, 9.000000e+00
  %137 = fmul double %134, %136
  %138 = select i1 %135, double %137, double %134
  %139 = tail call double @__ocml_sinpi_f64(double noundef %0) #3
  %140 = fadd double %97, %100
  br i1 %101, label %141, label %150

141:                                              ; preds = %96
  %142 = fsub double %100, %140
  %143 = fadd double %97, %142
  %144 = fmul double %143, %138
  %145 = fadd double %140, -1.000000e+01
  %146 = fmul double %145, 1.000000e-01
  %147 = fadd double %146, 0x40020396DC85CC95
  %148 = fmul double %147, %144
  %149 = fsub double %138, %148
  br label %150

150:                                              ; preds = %96, %141
  %151 = phi double [ %149, %141 ], [ %138, %96 ]
  %152 = fmul double %140, 5.000000e-01
  %153 = fadd double %152, -2.500000e-01
  %154 = tail call double @__ocml_pow_f64(double noundef %140, double noundef %153) #3
  %155 = fmul double %140, %140
  %156 = fdiv double 1.000000e+00, %155
  %157 = tail call double @llvm.fma.f64(double %156, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %158 = tail call double @llvm.fma.f64(double %157, double %156, double 0x3F4B951E2B18FF23)
  %159 = tail call double @llvm.fma.f64(double %158, double %156, double 0xBF43813813813814)
  %160 = tail call double @llvm.fma.f64(double %159, double %156, double 0x3F4A01A01A01A01A)
  %161 = tail call double @llvm.fma.f64(double %160, double %156, double 0xBF66C16C16C16C17)
  %162 = tail call double @llvm.fma.f64(double %161, double %156, double 0x3FB5555555555555)
  %163 = fdiv double %162, %140
  %164 = tail call double @__ocml_exp_f64(double noundef %163) #3
  %165 = fneg double %140
  %166 = tail call double @__ocml_exp_f64(double noundef %165) #3
  %167 = fcmp ogt double %97, 1.720000e+02
  br i1 %167, label %174, label %168

168:                                              ; preds = %150
  %169 = fmul double %154, 0x40040D931FF62705
  %170 = fmul double %169, %166
  %171 = fmul double %154, %170
  %172 = fmul double %164, %171
  %173 = fdiv double %172, %151
  br label %174

174:                                              ; preds = %150, %168
  %175 = phi double [ %173, %168 ], [ 0x7FF0000000000000, %150 ]
  %176 = fmul double %139, %175
  %177 = fdiv double 0x400921FB54442D18, %176
  br label %178

178:                                              ; preds = %88, %70, %174, %94, %5, %15, %3
  %179 = phi double [ %4, %3 ], [ %16, %15 ], [ 0x7FF8000000000000, %5 ], [ %177, %174 ], [ 0.000000e+00, %94 ], [ %93, %88 ], [ 0x7FF0000000000000, %70 ]
  ret double %179
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.copysign.f64(double, double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.trunc.f64(double) #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_sinpi_f64(double noundef) local_unnamed_addr #2

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden double @__ocml_lgamma_f64(double noundef %0) local_unnamed_addr #0 {
  %2 = tail call double @llvm.fabs.f64(double %0)
  %3 = fcmp ueq double %2, 0x7FF0000000000000
  br i1 %3, label %4, label %6

4:                                                ; preds = %1
  %5 = fmul double %0, %0
  br label %171

6:                                                ; preds = %1
  %7 = fcmp ole double %0, 0.000000e+00
  %8 = tail call double @llvm.trunc.f64(double %0)
  %9 = fcmp oeq double %8, %0
  %10 = and i1 %7, %9
  br i1 %10, label %171, label %11

11:                                               ; preds = %6
  %12 = fcmp ogt double %0, 0.000000e+00
  br i1 %12, label %13, label %90

13:                                               ; preds = %11
  %14 = fcmp oeq double %0, 1.000000e+00
  %15 = fcmp oeq double %0, 2.000000e+00
  %16 = or i1 %14, %15
  br i1 %16, label %171, label %17

17:                                               ; preds = %13
  %18 = fsub double 1.000000e+01, %0
  %19 = tail call double @llvm.ceil.f64(double %18)
  %20 = tail call double @llvm.maxnum.f64(double %19, double 0.000000e+00)
  %21 = fcmp ogt double %20, 0.000000e+00
  %22 = select i1 %21, double %0, double 1.000000e+00
  %23 = fcmp ogt double %20, 1.000000e+00
  %24 = fadd double %0, 1.000000e+00
  %25 = select i1 %23, double %24, double 1.000000e+00
  %26 = fmul double %22, %25
  %27 = fcmp ogt double %20, 2.000000e+00
  %28 = fadd double %0, 2.000000e+00
  %29 = select i1 %27, double %28, double 1.000000e+00
  %30 = fmul double %26, %29
  %31 = fcmp ogt double %20, 3.000000e+00
  %32 = fadd double %0, 3.000000e+00
  %33 = fmul double %30, %32
  %34 = select i1 %31, double %33, double %30
  %35 = fcmp ogt double %20, 4.000000e+00
  %36 = fadd double %0, 4.000000e+00
  %37 = fmul double %34, %36
  %38 = select i1 %35, double %37, double %34
  %39 = fcmp ogt double %20, 5.000000e+00
  %40 = fadd double %0, 5.000000e+00
  %41 = fmul double %38, %40
  %42 = select i1 %39, double %41, double %38
  %43 = fcmp ogt double %20, 6.000000e+00
  %44 = fadd double %0, 6.000000e+00
  %45 = fmul double %42, %44
  %46 = select i1 %43, double %45, double %42
  %47 = fcmp ogt double %20, 7.000000e+00
  %48 = fadd double %0, 7.000000e+00
  %49 = fmul double %46, %48
  %50 = select i1 %47, double %49, double %46
  %51 = fcmp ogt double %20, 8.000000e+00
  %52 = fadd double %0, 8.000000e+00
  %53 = fmul double %50, %52
  %54 = select i1 %51, double %53, double %50
  %55 = fcmp ogt double %20, 9.000000e+00
  %56 = fadd double %0, 9.000000e+00
  %57 = fmul double %54, %56
  %58 = select i1 %55, double %57, double %54
  %59 = fadd double %20, %0
  br i1 %21, label %60, label %69

60:                                               ; preds = %17
  %61 = fsub double %20, %59
  %62 = fadd double %61, %0
  %63 = fmul double %62, %58
  %64 = fadd double %59, -1.000000e+01
  %65 = fmul double %64, 1.000000e-01
  %66 = fadd double %65, 0x40020396DC85CC95
  %67 = fmul double %66, %63
  %68 = fsub double %58, %67
  br label %69

69:                                               ; preds = %17, %60
  %70 = phi double [ %68, %60 ], [ %58, %17 ]
  %71 = fadd double %59, -5.000000e-01
  %72 = tail call double @__ocml_log_f64(double noundef %59) #3
  %73 = fadd double %72, -1.000000e+00
  %74 = fmul double %71, %73
  %75 = fmul double %59, %59
  %76 = fdiv double 1.000000e+00, %75
  %77 = tail call double @llvm.fma.f64(double %76, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %78 = tail call double @llvm.fma.f64(double %77, double %76, double 0x3F4B951E2B18FF23)
  %79 = tail call double @llvm.fma.f64(double %78, double %76, double 0xBF43813813813814)
  %80 = tail call double @llvm.fma.f64(double %79, double %76, double 0x3F4A01A01A01A01A)
  %81 = tail call double @llvm.fma.f64(double %80, double %76, double 0xBF66C16C16C16C17)
  %82 = tail call double @llvm.fma.f64(double %81, double %76, double 0x3FB5555555555555)
  %83 = fdiv double %82, %59
  %84 = fadd double %83, 0x3FDACFE390C97D69
  %85 = fadd double %84, %74
  %86 = fcmp olt double %0, 1.000000e+01
  br i1 %86, label %87, label %171

87:                                               ; preds = %69
  %88 = tail call double @__ocml_log_f64(double noundef %70) #3
  %89 = fsub double %85, %88
  br label %171

90:                                               ; preds = %11
  %91 = tail call double @__ocml_sinpi_f64(double noundef %0) #3
  %92 = tail call double @llvm.fabs.f64(double %91)
  %93 = fdiv double 0x400921FB54442D18, %92
  %94 = fsub double 1.000000e+00, %0
  %95 = fsub double 1.000000e+01, %94
  %96 = tail call double @llvm.ceil.f64(double %95)
  %97 = tail call double @llvm.maxnum.f64(double %96, double 0.000000e+00)
  %98 = fcmp ogt double %97, 0.000000e+00
  %99 = select i1 %98, double %94, double 1.000000e+00
  %100 = fcmp ogt double %97, 1.000000e+00
  %101 = fadd double %94, 1.000000e+00
  %102 = select i1 %100, double %101, double 1.000000e+00
  %103 = fmul double %99, %102
  %104 = fcmp ogt double %97, 2.000000e+00
  %105 = fadd double %94, 2.000000e+00
  %106 = fmul double %103, %105
  %107 = select i1 %104, double %106, double %103
  %108 = fcmp ogt double %97, 3.000000e+00
  %109 = fadd double %94, 3.000000e+00
  %110 = fmul double %107, %109
  %111 = select i1 %108, double %110, double %107
  %112 = fcmp ogt double %97, 4.000000e+00
  %113 = fadd double %94, 4.000000e+00
  %114 = fmul double %111, %113
  %115 = select i1 %112, double %114, double %111
  %116 = fcmp ogt double %97, 5.000000e+00
  %117 = fadd double %94, 5.000000e+00
  %118 = fmul double %115, %117
  %119 = select i1 %116, double %118, double %115
  %120 = fcmp ogt double %97, 6.000000e+00
  %121 = fadd double %94, 6.000000e+00
  %122 = fmul double %119, %121
  %123 = select i1 %120, double %122, double %119
  %124 = fcmp ogt double %97, 7.000000e+00
  %125 = fadd double %94, 7.000000e+00
  %126 = fmul double %123, %125
  %127 = select i1 %124, double %126, double %123
  %128 = fcmp ogt double %97, 8.000000e+00
  %129 = fadd double %94, 8.000000e+00
  %130 = fmul double %127, %129
  %131 = select i1 %128, double %130, double %127
  %132 = fcmp ogt double %97, 9.000000e+00
  %133 = fadd double %94, 9.000000e+00
  %134 = fmul double %131, %133
  %135 = select i1 %132, double %134, double %131
  %136 = tail call double @__ocml_log_f64(double noundef %93) #3
  %137 = fadd double %94, %97
  br i1 %98, label %138, label %147

138:                                              ; preds = %90
  %139 = fsub double %97, %137
  %140 = fadd double %94, %139
  %141 = fmul double %140, %135
  %142 = fadd double %137, -1.000000e+01
  %143 = fmul double %142, 1.000000e-01
  %144 = fadd double %143, 0x40020396DC85CC95
  %145 = fmul double %144, %141
  %146 = fsub double %135, %145
  br label %147

147:                                              ; preds = %90, %138
  %148 = phi double [ %146, %138 ], [ %135, %90 ]
  %149 = fadd double %137, -5.000000e-01
  %150 = tail call double @__ocml_log_f64(double noundef %137) #3
  %151 = fadd double %150, -1.000000e+00
  %152 = fmul double %149, %151
  %153 = fmul double %137, %137
  %154 = fdiv double 1.000000e+00, %153
  %155 = tail call double @llvm.fma.f64(double %154, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %156 = tail call double @llvm.fma.f64(double %155, double %154, double 0x3F4B951E2B18FF23)
  %157 = tail call double @llvm.fma.f64(double %156, double %154, double 0xBF43813813813814)
  %158 = tail call double @llvm.fma.f64(double %157, double %154, double 0x3F4A01A01A01A01A)
  %159 = tail call double @llvm.fma.f64(double %158, double %154, double 0xBF66C16C16C16C17)
  %160 = tail call double @llvm.fma.f64(double %159, double %154, double 0x3FB5555555555555)
  %161 = fdiv double %160, %137
  %162 = fadd double %161, 0x3FDACFE390C97D69
  %163 = fadd double %162, %152
  %164 = fcmp olt double %94, 1.000000e+01
  br i1 %164, label %165, label %168

165:                                              ; preds = %147
  %166 = tail call double @__ocml_log_f64(double noundef %148) #3
  %167 = fsub double %163, %166
  br label %168

168:                                              ; preds = %147, %165
  %169 = phi double [ %167, %165 ], [ %163, %147 ]
  %170 = fsub double %136, %169
  br label %171

171:                                              ; preds = %87, %69, %13, %6, %168, %4
  %172 = phi double [ %5, %4 ], [ %170, %168 ], [ 0x7FF0000000000000, %6 ], [ 0.000000e+00, %13 ], [ %89, %87 ], [ %85, %69 ]
  ret double %172
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_log_f64(double noundef) local_unnamed_addr #2

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden float @__ocml_tgamma_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fpext float %0 to double
  %3 = fcmp oeq float %0, 0.000000e+00
  br i1 %3, label %4, label %6

4:                                                ; preds = %1
  %5 = tail call double @llvm.copysign.f64(double 0x7FF0000000000000, double %2)
  br label %179

6:                                                ; preds = %1
  %7 = fcmp olt float %0, 0.000000e+00
  %8 = tail call double @llvm.trunc.f64(double %2)
  %9 = fcmp oeq double %8, %2
  %10 = and i1 %7, %9
  br i1 %10, label %179, label %11

11:                                               ; preds = %6
  %12 = fcmp uno float %0, 0.000000e+00
  %13 = fcmp ogt float %0, 1.000000e+03
  %14 = or i1 %12, %13
  %15 = fcmp ogt float %0, 0.000000e+00
  br i1 %14, label %16, label %18

16:                                               ; preds = %11
  %17 = select i1 %15, double 0x7FF0000000000000, double %2
  br label %179

18:                                               ; preds = %11
  br i1 %15, label %19, label %95

19:                                               ; preds = %18
  %20 = fsub double 1.000000e+01, %2
  %21 = tail call double @llvm.ceil.f64(double %20)
  %22 = tail call double @llvm.maxnum.f64(double %21, double 0.000000e+00)
  %23 = fcmp ogt double %22, 0.000000e+00
  %24 = select i1 %23, double %2, double 1.000000e+00
  %25 = fcmp ogt double %22, 1.000000e+00
  %26 = fadd double %2, 1.000000e+00
  %27 = select i1 %25, double %26, double 1.000000e+00
  %28 = fmul double %24, %27
  %29 = fcmp ogt double %22, 2.000000e+00
  %30 = fadd double %2, 2.000000e+00
  %31 = fmul double %28, %30
  %32 = select i1 %29, double %31, double %28
  %33 = fcmp ogt double %22, 3.000000e+00
  %34 = fadd double %2, 3.000000e+00
  %35 = fmul double %32, %34
  %36 = select i1 %33, double %35, double %32
  %37 = fcmp ogt double %22, 4.000000e+00
  %38 = fadd double %2, 4.000000e+00
  %39 = fmul double %36, %38
  %40 = select i1 %37, double %39, double %36
  %41 = fcmp ogt double %22, 5.000000e+00
  %42 = fadd double %2, 5.000000e+00
  %43 = fmul double %40, %42
  %44 = select i1 %41, double %43, double %40
  %45 = fcmp ogt double %22, 6.000000e+00
  %46 = fadd double %2, 6.000000e+00
  %47 = fmul double %44, %46
  %48 = select i1 %45, double %47, double %44
  %49 = fcmp ogt double %22, 7.000000e+00
  %50 = fadd double %2, 7.000000e+00
  %51 = fmul double %48, %50
  %52 = select i1 %49, double %51, double %48
  %53 = fcmp ogt double %22, 8.000000e+00
  %54 = fadd double %2, 8.000000e+00
  %55 = fmul double %52, %54
  %56 = select i1 %53, double %55, double %52
  %57 = fcmp ogt double %22, 9.000000e+00
  %58 = fadd double %2, 9.000000e+00
  %59 = fmul double %56, %58
  %60 = select i1 %57, double %59, double %56
  %61 = fadd double %22, %2
  br i1 %23, label %62, label %71

62:                                               ; preds = %19
  %63 = fsub double %22, %61
  %64 = fadd double %63, %2
  %65 = fmul double %64, %60
  %66 = fadd double %61, -1.000000e+01
  %67 = fmul double %66, 1.000000e-01
  %68 = fadd double %67, 0x40020396DC85CC95
  %69 = fmul double %68, %65
  %70 = fsub double %60, %69
  br label %71

71:                                               ; preds = %19, %62
  %72 = phi double [ %70, %62 ], [ %60, %19 ]
  %73 = fmul double %61, 5.000000e-01
  %74 = fadd double %73, -2.500000e-01
  %75 = tail call double @__ocml_pow_f64(double noundef %61, double noundef %74) #3
  %76 = fmul double %61, %61
  %77 = fdiv double 1.000000e+00, %76
  %78 = tail call double @llvm.fma.f64(double %77, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %79 = tail call double @llvm.fma.f64(double %78, double %77, double 0x3F4B951E2B18FF23)
  %80 = tail call double @llvm.fma.f64(double %79, double %77, double 0xBF43813813813814)
  %81 = tail call double @llvm.fma.f64(double %80, double %77, double 0x3F4A01A01A01A01A)
  %82 = tail call double @llvm.fma.f64(double %81, double %77, double 0xBF66C16C16C16C17)
  %83 = tail call double @llvm.fma.f64(double %82, double %77, double 0x3FB5555555555555)
  %84 = fdiv double %83, %61
  %85 = tail call double @__ocml_exp_f64(double noundef %84) #3
  %86 = fneg double %61
  %87 = tail call double @__ocml_exp_f64(double noundef %86) #3
  %88 = fcmp ogt float %0, 1.720000e+02
  br i1 %88, label %179, label %89

89:                                               ; preds = %71
  %90 = fmul double %75, 0x40040D931FF62705
  %91 = fmul double %90, %87
  %92 = fmul double %75, %91
  %93 = fmul double %85, %92
  %94 = fdiv double %93, %72
  br label %179

95:                                               ; preds = %18
  %96 = fcmp olt float %0, -1.840000e+02
  br i1 %96, label %179, label %97

97:                                               ; preds = %95
  %98 = fsub double 1.000000e+00, %2
  %99 = fsub double 1.000000e+01, %98
  %100 = tail call double @llvm.ceil.f64(double %99)
  %101 = tail call double @llvm.maxnum.f64(double %100, double 0.000000e+00)
  %102 = fcmp ogt double %101, 0.000000e+00
  %103 = select i1 %102, double %98, double 1.000000e+00
  %104 = fcmp ogt double %101, 1.000000e+00
  %105 = fadd double %98, 1.000000e+00
  %106 = fmul double %103, %105
  %107 = select i1 %104, double %106, double %103
  %108 = fcmp ogt double %101, 2.000000e+00
  %109 = fadd double %98, 2.000000e+00
  %110 = fmul double %107, %109
  %111 = select i1 %108, double %110, double %107
  %112 = fcmp ogt double %101, 3.000000e+00
  %113 = fadd double %98, 3.000000e+00
  %114 = fmul double %111, %113
  %115 = select i1 %112, double %114, double %111
  %116 = fcmp ogt double %101, 4.000000e+00
  %117 = fadd double %98, 4.000000e+00
  %118 = fmul double %115, %117
  %119 = select i1 %116, double %118, double %115
  %120 = fcmp ogt double %101, 5.000000e+00
  %121 = fadd double %98, 5.000000e+00
  %122 = fmul double %119, %121
  %123 = select i1 %120, double %122, double %119
  %124 = fcmp ogt double %101, 6.000000e+00
  %125 = fadd double %98, 6.000000e+00
  %126 = fmul double %123, %125
  %127 = select i1 %124, double %126, double %123
  %128 = fcmp ogt double %101, 7.000000e+00
  %129 = fadd double %98, 7.000000e+00
  %130 = fmul double %127, %129
  %131 = select i1 %128, double %130, double %127
  %132 = fcmp ogt double %101, 8.000000e+00
  %133 = fadd double %98, 8.000000e+00
  %134 = fmul double %131, %133
  %135 = select i1 %132, double %134, double %131
  %136 = fcmp ogt double %101, 9.000000e+00
  %137 = fadd double %98, 9.000000e+00
  %138 = fmul double %135, %137
  %139 = select i1 %136, double %138, double %135
  %140 = tail call double @__ocml_sinpi_f64(double noundef %2) #3
  %141 = fadd double %98, %101
  br i1 %102, label %142, label %151

142:                                              ; preds = %97
  %143 = fsub double %101, %141
  %144 = fadd double %98, %143
  %145 = fmul double %144, %139
  %146 = fadd double %141, -1.000000e+01
  %147 = fmul double %146, 1.000000e-01
  %148 = fadd double %147, 0x40020396DC85CC95
  %149 = fmul double %148, %145
  %150 = fsub double %139, %149
  br label %151

151:                                              ; preds = %97, %142
  %152 = phi double [ %150, %142 ], [ %139, %97 ]
  %153 = fmul double %141, 5.000000e-01
  %154 = fadd double %153, -2.500000e-01
  %155 = tail call double @__ocml_pow_f64(double noundef %141, double noundef %154) #3
  %156 = fmul double %141, %141
  %157 = fdiv double 1.000000e+00, %156
  %158 = tail call double @llvm.fma.f64(double %157, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %159 = tail call double @llvm.fma.f64(double %158, double %157, double 0x3F4B951E2B18FF23)
  %160 = tail call double @llvm.fma.f64(double %159, double %157, double 0xBF43813813813814)
  %161 = tail call double @llvm.fma.f64(double %160, double %157, double 0x3F4A01A01A01A01A)
  %162 = tail call double @llvm.fma.f64(double %161, double %157, double 0xBF66C16C16C16C17)
  %163 = tail call double @llvm.fma.f64(double %162, double %157, double 0x3FB5555555555555)
  %164 = fdiv double %163, %141
  %165 = tail call double @__ocml_exp_f64(double noundef %164) #3
  %166 = fneg double %141
  %167 = tail call double @__ocml_exp_f64(double noundef %166) #3
  %168 = fcmp ogt double %98, 1.720000e+02
  br i1 %168, label %175, label %169

169:                                              ; preds = %151
  %170 = fmul double %155, 0x40040D931FF62705
  %171 = fmul double %170, %167
  %172 = fmul double %155, %171
  %173 = fmul double %165, %172
  %174 = fdiv double %173, %152
  br label %175

175:                                              ; preds = %151, %169
  %176 = phi double [ %174, %169 ], [ 0x7FF0000000000000, %151 ]
  %177 = fmul double %140, %176
  %178 = fdiv double 0x400921FB54442D18, %177
  br label %179

179:                                              ; preds = %89, %71, %4, %6, %16, %95, %175
  %180 = phi double [ %5, %4 ], [ %17, %16 ], [ 0x7FF8000000000000, %6 ], [ %178, %175 ], [ 0.000000e+00, %95 ], [ %94, %89 ], [ 0x7FF0000000000000, %71 ]
  %181 = fptrunc double %180 to float
  ret float %181
}

; Function Attrs: alwaysinline convergent mustprogress nofree nounwind willreturn memory(none)
define hidden float @__ocml_lgamma_f32(float noundef %0) local_unnamed_addr #0 {
  %2 = fpext float %0 to double
  %3 = fcmp uno float %0, 0.000000e+00
  %4 = tail call double @llvm.fabs.f64(double %2)
  %5 = fcmp oeq double %4, 0x7FF0000000000000
  %6 = or i1 %3, %5
  br i1 %6, label %7, label %9

7:                                                ; preds = %1
  %8 = fmul double %2, %2
  br label %174

9:                                                ; preds = %1
  %10 = fcmp ole float %0, 0.000000e+00
  %11 = tail call double @llvm.trunc.f64(double %2)
  %12 = fcmp oeq double %11, %2
  %13 = and i1 %10, %12
  br i1 %13, label %174, label %14

14:                                               ; preds = %9
  %15 = fcmp ogt float %0, 0.000000e+00
  br i1 %15, label %16, label %93

16:                                               ; preds = %14
  %17 = fcmp oeq float %0, 1.000000e+00
  %18 = fcmp oeq float %0, 2.000000e+00
  %19 = or i1 %17, %18
  br i1 %19, label %174, label %20

20:                                               ; preds = %16
  %21 = fsub double 1.000000e+01, %2
  %22 = tail call double @llvm.ceil.f64(double %21)
  %23 = tail call double @llvm.maxnum.f64(double %22, double 0.000000e+00)
  %24 = fcmp ogt double %23, 0.000000e+00
  %25 = select i1 %24, double %2, double 1.000000e+00
  %26 = fcmp ogt double %23, 1.000000e+00
  %27 = fadd double %2, 1.000000e+00
  %28 = select i1 %26, double %27, double 1.000000e+00
  %29 = fmul double %25, %28
  %30 = fcmp ogt double %23, 2.000000e+00
  %31 = fadd double %2, 2.000000e+00
  %32 = fmul double %29, %31
  %33 = select i1 %30, double %32, double %29
  %34 = fcmp ogt double %23, 3.000000e+00
  %35 = fadd double %2, 3.000000e+00
  %36 = fmul double %33, %35
  %37 = select i1 %34, double %36, double %33
  %38 = fcmp ogt double %23, 4.000000e+00
  %39 = fadd double %2, 4.000000e+00
  %40 = fmul double %37, %39
  %41 = select i1 %38, double %40, double %37
  %42 = fcmp ogt double %23, 5.000000e+00
  %43 = fadd double %2, 5.000000e+00
  %44 = fmul double %41, %43
  %45 = select i1 %42, double %44, double %41
  %46 = fcmp ogt double %23, 6.000000e+00
  %47 = fadd double %2, 6.000000e+00
  %48 = fmul double %45, %47
  %49 = select i1 %46, double %48, double %45
  %50 = fcmp ogt double %23, 7.000000e+00
  %51 = fadd double %2, 7.000000e+00
  %52 = fmul double %49, %51
  %53 = select i1 %50, double %52, double %49
  %54 = fcmp ogt double %23, 8.000000e+00
  %55 = fadd double %2, 8.000000e+00
  %56 = fmul double %53, %55
  %57 = select i1 %54, double %56, double %53
  %58 = fcmp ogt double %23, 9.000000e+00
  %59 = fadd double %2, 9.000000e+00
  %60 = fmul double %57, %59
  %61 = select i1 %58, double %60, double %57
  %62 = fadd double %23, %2
  br i1 %24, label %63, label %72

63:                                               ; preds = %20
  %64 = fsub double %23, %62
  %65 = fadd double %64, %2
  %66 = fmul double %65, %61
  %67 = fadd double %62, -1.000000e+01
  %68 = fmul double %67, 1.000000e-01
  %69 = fadd double %68, 0x40020396DC85CC95
  %70 = fmul double %69, %66
  %71 = fsub double %61, %70
  br label %72

72:                                               ; preds = %20, %63
  %73 = phi double [ %71, %63 ], [ %61, %20 ]
  %74 = fadd double %62, -5.000000e-01
  %75 = tail call double @__ocml_log_f64(double noundef %62) #3
  %76 = fadd double %75, -1.000000e+00
  %77 = fmul double %74, %76
  %78 = fmul double %62, %62
  %79 = fdiv double 1.000000e+00, %78
  %80 = tail call double @llvm.fma.f64(double %79, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %81 = tail call double @llvm.fma.f64(double %80, double %79, double 0x3F4B951E2B18FF23)
  %82 = tail call double @llvm.fma.f64(double %81, double %79, double 0xBF43813813813814)
  %83 = tail call double @llvm.fma.f64(double %82, double %79, double 0x3F4A01A01A01A01A)
  %84 = tail call double @llvm.fma.f64(double %83, double %79, double 0xBF66C16C16C16C17)
  %85 = tail call double @llvm.fma.f64(double %84, double %79, double 0x3FB5555555555555)
  %86 = fdiv double %85, %62
  %87 = fadd double %86, 0x3FDACFE390C97D69
  %88 = fadd double %87, %77
  %89 = fcmp olt float %0, 1.000000e+01
  br i1 %89, label %90, label %174

90:                                               ; preds = %72
  %91 = tail call double @__ocml_log_f64(double noundef %73) #3
  %92 = fsub double %88, %91
  br label %174

93:                                               ; preds = %14
  %94 = tail call double @__ocml_sinpi_f64(double noundef %2) #3
  %95 = tail call double @llvm.fabs.f64(double %94)
  %96 = fdiv double 0x400921FB54442D18, %95
  %97 = fsub double 1.000000e+00, %2
  %98 = fsub double 1.000000e+01, %97
  %99 = tail call double @llvm.ceil.f64(double %98)
  %100 = tail call double @llvm.maxnum.f64(double %99, double 0.000000e+00)
  %101 = fcmp ogt double %100, 0.000000e+00
  %102 = select i1 %101, double %97, double 1.000000e+00
  %103 = fcmp ogt double %100, 1.000000e+00
  %104 = fadd double %97, 1.000000e+00
  %105 = fmul double %102, %104
  %106 = select i1 %103, double %105, double %102
  %107 = fcmp ogt double %100, 2.000000e+00
  %108 = fadd double %97, 2.000000e+00
  %109 = fmul double %106, %108
  %110 = select i1 %107, double %109, double %106
  %111 = fcmp ogt double %100, 3.000000e+00
  %112 = fadd double %97, 3.000000e+00
  %113 = fmul double %110, %112
  %114 = select i1 %111, double %113, double %110
  %115 = fcmp ogt double %100, 4.000000e+00
  %116 = fadd double %97, 4.000000e+00
  %117 = fmul double %114, %116
  %118 = select i1 %115, double %117, double %114
  %119 = fcmp ogt double %100, 5.000000e+00
  %120 = fadd double %97, 5.000000e+00
  %121 = fmul double %118, %120
  %122 = select i1 %119, double %121, double %118
  %123 = fcmp ogt double %100, 6.000000e+00
  %124 = fadd double %97, 6.000000e+00
  %125 = fmul double %122, %124
  %126 = select i1 %123, double %125, double %122
  %127 = fcmp ogt double %100, 7.000000e+00
  %128 = fadd double %97, 7.000000e+00
  %129 = fmul double %126, %128
  %130 = select i1 %127, double %129, double %126
  %131 = fcmp ogt double %100, 8.000000e+00
  %132 = fadd double %97, 8.000000e+00
  %133 = fmul double %130, %132
  %134 = select i1 %131, double %133, double %130
  %135 = fcmp ogt double %100, 9.000000e+00
  %136 = fadd double %97, 9.000000e+00
  %137 = fmul double %134, %136
  %138 = select i1 %135, double %137, double %134
  %139 = tail call double @__ocml_log_f64(double noundef %96) #3
  %140 = fadd double %97, %100
  br i1 %101, label %141, label %150

141:                                              ; preds = %93
  %142 = fsub double %100, %140
  %143 = fadd double %97, %142
  %144 = fmul double %143, %138
  %145 = fadd double %140, -1.000000e+01
  %146 = fmul double %145, 1.000000e-01
  %147 = fadd double %146, 0x40020396DC85CC95
  %148 = fmul double %147, %144
  %149 = fsub double %138, %148
  br label %150

150:                                              ; preds = %93, %141
  %151 = phi double [ %149, %141 ], [ %138, %93 ]
  %152 = fadd double %140, -5.000000e-01
  %153 = tail call double @__ocml_log_f64(double noundef %140) #3
  %154 = fadd double %153, -1.000000e+00
  %155 = fmul double %152, %154
  %156 = fmul double %140, %140
  %157 = fdiv double 1.000000e+00, %156
  %158 = tail call double @llvm.fma.f64(double %157, double 0x3F7A41A41A41A41A, double 0xBF5F6AB0D9993C7D)
  %159 = tail call double @llvm.fma.f64(double %158, double %157, double 0x3F4B951E2B18FF23)
  %160 = tail call double @llvm.fma.f64(double %159, double %157, double 0xBF43813813813814)
  %161 = tail call double @llvm.fma.f64(double %160, double %157, double 0x3F4A01A01A01A01A)
  %162 = tail call double @llvm.fma.f64(double %161, double %157, double 0xBF66C16C16C16C17)
  %163 = tail call double @llvm.fma.f64(double %162, double %157, double 0x3FB5555555555555)
  %164 = fdiv double %163, %140
  %165 = fadd double %164, 0x3FDACFE390C97D69
  %166 = fadd double %165, %155
  %167 = fcmp olt double %97, 1.000000e+01
  br i1 %167, label %168, label %171

168:                                              ; preds = %150
  %169 = tail call double @__ocml_log_f64(double noundef %151) #3
  %170 = fsub double %166, %169
  br label %171

171:                                              ; preds = %150, %168
  %172 = phi double [ %170, %168 ], [ %166, %150 ]
  %173 = fsub double %139, %172
  br label %174

174:                                              ; preds = %90, %72, %7, %9, %16, %171
  %175 = phi double [ %8, %7 ], [ %173, %171 ], [ 0x7FF0000000000000, %9 ], [ 0.000000e+00, %16 ], [ %92, %90 ], [ %88, %72 ]
  %176 = fptrunc double %175 to float
  ret float %176
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_pow_f64(double noundef, double noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare hidden double @__ocml_exp_f64(double noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.ceil.f64(double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.maxnum.f64(double, double) #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #1

attributes #0 = { alwaysinline convergent mustprogress nofree nounwind willreturn memory(none) "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent mustprogress nofree nounwind willreturn memory(none) "amdgpu-waves-per-eu"="4,8" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="gfx90a" "target-features"="+16-bit-insts,+atomic-buffer-global-pk-add-f16-insts,+atomic-fadd-rtn-insts,+ci-insts,+dl-insts,+dot1-insts,+dot10-insts,+dot2-insts,+dot3-insts,+dot4-insts,+dot5-insts,+dot6-insts,+dot7-insts,+dpp,+gfx8-insts,+gfx9-insts,+gfx90a-insts,+mai-insts,+s-memrealtime,+s-memtime-inst,+wavefrontsize64" "uniform-work-group-size"="false" }
attributes #3 = { convergent nounwind willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3}

!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!1 = !{i32 1, !"amdgpu_printf_kind", !"hostcall"}
!2 = !{i32 1, !"wchar_size", i32 4}
!3 = !{i32 8, !"PIC Level", i32 2}
