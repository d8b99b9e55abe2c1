{{/* A duration such as 1m30s or 500ms in whole seconds, rounded up. */}}
{{- define "call-analysis.seconds" -}}
{{- $duration := . -}}
{{- $milliseconds := 0 -}}
{{- range $unit, $worth := dict "d" 86400000 "h" 3600000 "m" 60000 "s" 1000 "ms" 1 -}}
{{- /* A digit or the end must follow the unit, so that the m of "ms" is not read as minutes. */ -}}
{{- $count := regexFind (printf "[0-9]+%s([0-9]|$)" $unit) $duration | regexFind "^[0-9]+" | default "0" -}}
{{- $milliseconds = add $milliseconds (mul (int64 $count) $worth) -}}
{{- end -}}
{{- div (add $milliseconds 999) 1000 -}}
{{- end -}}

{{/* How long a pod of these "settings" may take to stop before it is killed: (dict "root" $ "settings" …). */}}
{{- define "call-analysis.gracePeriod" -}}
{{- add (include "call-analysis.seconds" .root.Values.drain) (include "call-analysis.seconds" .settings.closeTimeout) 10 -}}
{{- end -}}
