import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { RpcVariables, rpcTlsFrom } from '../index.ts';
import { newAuthority } from './certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'rpc-variables-'));
function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const tls = newAuthority('ours').issue(['ingest']);
const files = {
  RPC_TLS_CA_FILE: file('ca.pem', tls.ca),
  RPC_TLS_CERT_FILE: file('cert.pem', tls.cert),
  RPC_TLS_KEY_FILE: file('key.pem', tls.key),
};
const tlsFrom = (env: Record<string, string>) => rpcTlsFrom(parseConfig(RpcVariables, env));

describe('the variables of gRPC', () => {
  it('serve on every interface in plain text, unless they say otherwise', () => {
    expect(parseConfig(RpcVariables, {})).toEqual({ RPC_HOST: '0.0.0.0', RPC_PORT: 50_051, RPC_REFLECTION: 'off' });
    expect(tlsFrom({})).toBeUndefined();
  });

  it('give the certificates that the files hold', () => {
    expect(tlsFrom(files)).toEqual(tls);
  });

  it('say what is wrong in a sentence', () => {
    const { RPC_TLS_KEY_FILE: _, ...half } = files;
    expect(() => tlsFrom(half)).toThrow(
      'RPC_TLS_CA_FILE and RPC_TLS_CERT_FILE are set, so RPC_TLS_KEY_FILE must be set too.',
    );
    expect(() => tlsFrom({ ...files, RPC_TLS_CA_FILE: '/nowhere' })).toThrow(
      'RPC_TLS_CA_FILE names /nowhere, which cannot be read (ENOENT).',
    );
    const text = file('text', 'no key');
    expect(() => tlsFrom({ ...files, RPC_TLS_KEY_FILE: text })).toThrow(
      `RPC_TLS_KEY_FILE names ${text}, which is no PEM file.`,
    );
    expect(() => tlsFrom({ RPC_REFLECTION: 'maybe' })).toThrow('RPC_REFLECTION must be one of on, off, not "maybe".');
  });
});
