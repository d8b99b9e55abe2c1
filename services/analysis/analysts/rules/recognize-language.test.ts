import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { recognizeLanguage } from './recognize-language.ts';

function languageOf(text: string, ...tags: readonly string[]): string | null {
  return recognizeLanguage([{ text }], tags);
}

describe('the language of a call', () => {
  it.each([
    ['en', 'Hello, I would like to know when my parcel arrives.'],
    ['ru', 'Здравствуйте, когда приедет мой заказ?'],
    ['uz', 'Assalomu alaykum, buyurtmam qachon keladi?'],
    ['uz', 'Ассалому алайкум, буюртмам қачон келади?'],
    ['uz', 'Alo, kartam ishlamayapti, banka zvonil qildim'],
    ['ky', 'Саламатсызбы, буйрутмам качан келет?'],
    ['ky', 'Саламатсызбы, карта заблокирована болуп калды'],
    ['es', 'Buenos días, ¿cuándo llega mi pedido?'],
    ['es', 'no me llega el pedido'],
  ])('is %s: %s', (language, text) => {
    expect(languageOf(text)).toBe(language);
  });

  it.each([[''], ['12345 67'], ['qwrt zxcv plmk'], ['你好，我的包裹在哪里'], ['😀 … !!']])(
    'is null for text in no known language: "%s"',
    (text) => {
      expect(languageOf(text, 'mijoz')).toBeNull();
    },
  );

  it('is null without utterances', () => {
    expect(recognizeLanguage([], ['cliente'])).toBeNull();
  });

  it('follows the tag when the words fit several languages', () => {
    expect(languageOf('Салам', 'кардар')).toBe('ky');
    expect(languageOf('Internet tarif', 'mijoz')).toBe('uz');
    expect(languageOf('no', 'cliente')).toBe('es');
  });

  it('follows the words when the tag contradicts them', () => {
    expect(languageOf('Здравствуйте, у меня не работает интернет, помогите пожалуйста', 'mijoz')).toBe('ru');
    expect(languageOf('Good morning, how can I help you today?', 'cliente', 'operador')).toBe('en');
  });

  it('is one of the five or null for any text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.array(fc.string()), (texts, tags) => {
        expect([null, 'en', 'ru', 'uz', 'ky', 'es']).toContain(
          recognizeLanguage(
            texts.map((text) => ({ text })),
            tags,
          ),
        );
      }),
    );
  });

  it('is recognized from the beginning of a long call', () => {
    expect(languageOf(`Hello, how are you today? ${'привет как дела '.repeat(300_000)}`)).not.toBeNull();
  });
});
