export { SpeexDecoder } from './decoder.ts';
