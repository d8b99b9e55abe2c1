export { address, serviceConfig } from './config.ts';
export type { DatabaseConfig, ObjectsServiceConfig, RpcConfig } from './config.ts';
export { consume } from './consumers.ts';
export type { Consumer, Registered } from './consumers.ts';
export { defineService } from './define-service.ts';
export {
  type Actor,
  answer,
  type ApiRequest,
  apiRequest,
  apiRpc,
  auditEntry,
  PageRequest,
  type Person,
  present,
  requireCaller,
  type Sent,
} from './requests.ts';
