{{/* The ports of URLs or of host:port, as JSON. */}}
{{- define "call-analysis.portsOf" -}}
{{- $ports := list -}}
{{- range . -}}
{{- $authority := regexReplaceAll "^https?://" . "" | regexFind "^[^/?#]+" -}}
{{- $usual := ternary "80" "443" (hasPrefix "http://" .) -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" $authority | trimPrefix ":" | default $usual | int64) -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}

{{/* A rule for the ports of "reach", which is { to, ports } of the values, or else for those of "addresses". */}}
{{- define "call-analysis.egress" -}}
- ports:
    {{- range .reach.ports | default (include "call-analysis.portsOf" .addresses | fromJsonArray) }}
    - { protocol: TCP, port: {{ . | int64 }} }
    {{- end }}
  {{- with .reach.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "call-analysis.dns" -}}
- ports:
    {{- range .ports }}
    - { protocol: UDP, port: {{ . | int64 }} }
    - { protocol: TCP, port: {{ . | int64 }} }
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
