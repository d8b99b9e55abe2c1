export {
  answer,
  present,
  type Sent,
  type Actor,
  auditEntry,
  type ApiRequest,
  apiRequest,
  apiRpc,
  PageRequest,
  type Person,
  type Publishing,
  requireCaller,
} from './requests.ts';
export { address, serviceConfig, type DatabaseConfig, type ObjectsServiceConfig, type RpcConfig } from './config.ts';
export { consume, type Consumer, type Registered } from './consumers.ts';
export { defineService } from './define-service.ts';
