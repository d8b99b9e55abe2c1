{{/* One rule to whoever is at these ports: { to, ports } of the values. */}}
{{- define "call-analysis.egress" -}}
- ports:
    {{- range .ports }}
    - { protocol: TCP, port: {{ . | int64 }} }
    {{- end }}
  {{- with .to }}
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
