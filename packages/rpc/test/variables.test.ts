import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { rpcFrom, RpcVariables, rpcTlsFrom } from '../index.ts';
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
  it('serve on loopback without certificates, and on every interface with them', () => {
    expect(rpcFrom(parseConfig(RpcVariables, {}))).toEqual({
      listen: '127.0.0.1:50051',
      tls: undefined,
      reflection: false,
    });
    expect(rpcFrom(parseConfig(RpcVariables, files))).toMatchObject({ listen: '0.0.0.0:50051', tls });
  });

  it.each(['0.0.0.0', '::', '10.1.2.3', 'ingest', '127.example.com'])(
    'refuse %s in plain text, and say what to do',
    (RPC_HOST) => {
      expect(() => rpcFrom(parseConfig(RpcVariables, { RPC_HOST }))).toThrow(
        `RPC_HOST is ${RPC_HOST}, and without certificates everyone who reaches it may call every method. Set RPC_TLS_CA_FILE, RPC_TLS_CERT_FILE and RPC_TLS_KEY_FILE, or RPC_HOST=127.0.0.1, or RPC_PLAIN_TEXT=allowed where a mesh decides who may call.`,
      );
      expect(rpcFrom(parseConfig(RpcVariables, { RPC_HOST, RPC_PLAIN_TEXT: 'allowed' })).tls).toBeUndefined();
      expect(rpcFrom(parseConfig(RpcVariables, { RPC_HOST, ...files })).tls).toMatchObject(tls);
    },
  );

  it.each(['127.0.0.1', '127.8.9.10', '::1', 'localhost'])('allow %s in plain text', (RPC_HOST) => {
    expect(rpcFrom(parseConfig(RpcVariables, { RPC_HOST })).tls).toBeUndefined();
  });

  it('return the certificates from the files', () => {
    expect(tlsFrom(files)).toEqual({ ...tls, names: '{service}' });
    expect(tlsFrom({ ...files, RPC_TLS_NAMES: 'calls-{service}' })).toMatchObject({ names: 'calls-{service}' });
  });

  it('report a fault in one sentence', () => {
    const { RPC_TLS_KEY_FILE: _, ...half } = files;
    expect(() => tlsFrom(half)).toThrow(
      'RPC_TLS_CA_FILE and RPC_TLS_CERT_FILE are set, so RPC_TLS_KEY_FILE must be set too.',
    );
    expect(() => tlsFrom({ ...files, RPC_TLS_CA_FILE: '/nowhere' })).toThrow(
      'RPC_TLS_CA_FILE names /nowhere, which cannot be read (ENOENT).',
    );
    const text = file('text', 'no key');
    expect(() => tlsFrom({ ...files, RPC_TLS_KEY_FILE: text })).toThrow(
      `RPC_TLS_KEY_FILE names ${text}, which is not a PEM file.`,
    );
    expect(() => tlsFrom({ ...files, RPC_TLS_NAMES: 'calls' })).toThrow('RPC_TLS_NAMES must contain {service} once.');
    expect(() => tlsFrom({ RPC_REFLECTION: 'maybe' })).toThrow('RPC_REFLECTION must be one of on, off, not "maybe".');
  });
});
