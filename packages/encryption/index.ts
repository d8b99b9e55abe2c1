export { BlockEncryption, decryptBlocks, HEADER_BYTES, isEncrypted, plainSize, rangeOfBlocks } from './blocks.ts';
export { DataKeys, WrongKey } from './data-keys.ts';
export { type EncryptionKeys, encryptionKeysFrom, EncryptionVariables } from './key-file.ts';
export { ValueCipher } from './values.ts';
