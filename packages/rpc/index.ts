export { AddressVariables } from './addresses.ts';
export { dial } from './dial.ts';
export type { Channel, DialOptions } from './dial.ts';
export type { Call, CallOptions, Client, Handlers } from './methods.ts';
export { implement, serve } from './serve.ts';
export type { Server, ServeOptions } from './serve.ts';
export type { Tls } from './tls.ts';
export { rpcFrom, rpcTlsFrom, RpcTlsVariables, RpcVariables } from './variables.ts';
export type { Implementation } from './answer.ts';
