export { type Channel, dial } from './client/calls.ts';
export type { DialOptions } from './client/remote-service.ts';
export type { Implementation } from './server/answer.ts';
export { CALLERS, type Callers, OF_GATEWAY, requireAdmin, type RpcCaller } from './server/callers.ts';
export { implement, serve, type Server, type ServeOptions } from './server/serve.ts';
export { AddressVariables, rpcFrom, rpcTlsFrom, RpcTlsVariables, RpcVariables } from './variables.ts';
export type { Call, CallOptions, Client, Handlers } from './wire/methods.ts';
export { LONGEST_CALL_MS, MAX_MESSAGE_BYTES } from './wire/options.ts';
export type { Tls } from './wire/tls.ts';
