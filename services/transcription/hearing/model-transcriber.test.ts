import { describe, expect, it } from '@jest/globals';
import { HEARING_RATE } from '../engine.ts';
import type { Kind, Model } from '../models/model.ts';
import { type Models, modelsToHear, ModelTranscriber } from './model-transcriber.ts';

const model = (name: string, kind: Kind, languages: string[]): Model => ({
  name,
  kind,
  languages,
  files: { encoder: 'e', decoder: 'd' },
  tokens: 't',
});
const english = model('english', 'moonshine', ['en']);
const russian = model('russian', 'gigaam', ['ru']);
const kyrgyz = model('kyrgyz', 'transducer', ['ky']);
const many = model('many', 'whisper', []);

// What models make of the same words, of their own language and of another.
const inEnglish = 'hello my name is anna how can i help you today with your account please tell me what the problem is';
const inRussian =
  'здравствуйте меня зовут анна чем я могу вам помочь сегодня что у вас случилось с интернетом пожалуйста';
const circles = 'the first one is the first one is the first one is the first one is the first one is the first one';
const nonsense = 'хэллоу май нейм ис эна хау кэн ай хелп ю тудей виз ёр эккаунт плиз телл ми вот зе проблем ис';
const foreignKyrgyz = 'хэллоу мэй нэйм анна хоу кэн хэлп ю тудэй виз ёр экаунт плис тэлл вот зэ проблэм иш нот';

/** Models that say the same of everything; who was asked how often is counted. */
function models(texts: Readonly<Record<string, string>>, language = 'en', spoken: string | null = null) {
  const asked = new Map<string, number>();
  const identified: number[] = [];
  const source: Models = {
    async recognizer({ name }) {
      return {
        createStream: () => ({ acceptWaveform() {} }),
        decode: () => void asked.set(name, (asked.get(name) ?? 0) + 1),
        getResult: () => ({ text: texts[name] ?? '', ...(spoken === null ? {} : { lang: spoken }) }),
      };
    },
    identify(_, samples) {
      identified.push(samples.length / HEARING_RATE);
      return language;
    },
  };
  return { source, asked, identified };
}

async function transcribe(source: Models, all: readonly Model[], pieces = 6) {
  const transcriber = new ModelTranscriber(source, all);
  for (let piece = 0; piece < pieces; piece++)
    await transcriber.hear(new Float32Array(7 * HEARING_RATE), piece % 2 === 0 ? 'left' : 'right');
  return transcriber.finish();
}

describe('the models of a service', () => {
  it('are joined by the English one that comes along, unless one of them knows English', () => {
    expect(modelsToHear([many])).toEqual([many]);
    expect(modelsToHear([english, russian])).toEqual([english, russian]);
  });

  it('alone hear everything', async () => {
    const { source, asked } = models({ english: inEnglish });
    const { engine, language, pieces } = await transcribe(source, [english]);
    expect({ engine, language, asked: asked.get('english') }).toEqual({ engine: 'english', language: 'en', asked: 6 });
    expect(pieces).toHaveLength(6);
    expect(pieces[0]).toEqual([{ text: inEnglish, start: 0, end: 7 }]);
  });

  it.each([
    [
      'english',
      'en',
      { english: inEnglish, russian: nonsense, kyrgyz: foreignKyrgyz },
      { english: 6, russian: 3, kyrgyz: 3 },
    ],
    // What the English one makes nothing of it looks at twice.
    [
      'russian',
      'ru',
      { english: circles, russian: inRussian, kyrgyz: inRussian },
      { english: 6, russian: 6, kyrgyz: 3 },
    ],
  ])('of several the %s one stays after a trial', async (name, code, texts, counts) => {
    const { source, asked } = models(texts);
    const { engine, language, pieces } = await transcribe(source, [english, russian, kyrgyz]);
    expect({ engine, language }).toEqual({ engine: name, language: code });
    expect(pieces).toHaveLength(6);
    expect(Object.fromEntries(asked)).toEqual(counts);
  });

  it('look a second time at what they could make nothing of', async () => {
    const lengths: number[] = [];
    const source: Models = {
      identify: () => 'en',
      async recognizer() {
        let length = 0;
        return {
          createStream: () => ({
            acceptWaveform({ samples }) {
              length = samples.length;
              lengths.push(length);
            },
          }),
          decode() {},
          getResult: () => ({ text: length === 5 * HEARING_RATE ? '' : inEnglish }),
        };
      },
    };
    const transcriber = new ModelTranscriber(source, [english]);
    await transcriber.hear(new Float32Array(7 * HEARING_RATE), 'left');
    await transcriber.hear(new Float32Array(5 * HEARING_RATE), 'right');
    await transcriber.hear(new Float32Array(7 * HEARING_RATE), 'left');
    const { pieces } = await transcriber.finish();
    expect(pieces.map(([heard]) => heard?.text)).toEqual([inEnglish, inEnglish, inEnglish]);
    expect(lengths.map((length) => length / HEARING_RATE)).toEqual([7, 5, 4.76, 7]);
  });

  it('decide at the end of a short call', async () => {
    const { source } = models({ english: circles, russian: inRussian });
    expect(await transcribe(source, [english, russian], 2)).toMatchObject({ engine: 'russian', language: 'ru' });
  });

  it('say so when nobody knows the language', async () => {
    const { source } = models({ english: circles, russian: nonsense });
    await expect(transcribe(source, [english])).rejects.toMatchObject({
      kind: 'invalid',
      code: 'LANGUAGE_NOT_SUPPORTED',
    });
    await expect(transcribe(source, [english, russian])).rejects.toThrow('SPEECH_MODEL_DIR');
  });

  it('are chosen by the language that Whisper hears, the one of that language alone before the one of many', async () => {
    const { source, asked, identified } = models({ russian: inRussian, many: inRussian }, 'ru');
    expect(await transcribe(source, [english, russian, many])).toMatchObject({ engine: 'russian', language: 'ru' });
    expect(identified).toEqual([7]);
    expect([asked.get('russian'), asked.get('many')]).toEqual([6, undefined]);
    const other = models({ many: 'guten tag' }, 'de');
    expect(await transcribe(other.source, [english, russian, many])).toMatchObject({ engine: 'many', language: null });
  });

  it('of many languages tell which it was', async () => {
    const { source } = models({ many: inRussian }, '', '<|uz|>');
    expect(await transcribe(source, [many])).toMatchObject({ engine: 'many', language: 'uz' });
  });
});
