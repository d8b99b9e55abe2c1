import { describe, expect, it } from '@jest/globals';
import { nearest, respelled } from './nearest.ts';

const names = ['Lucía Fernández', 'Азиза Каримова', 'Emily Carter', 'Emil Brooks'];
const found = (typed: string) => nearest(typed, names, (name) => name);

describe('names near what was typed', () => {
  it('contain it, without regard to case and accents, those that begin with it first', () => {
    expect(found('lucia')).toEqual(['Lucía Fernández']);
    expect(found('КАРИМ')).toEqual(['Азиза Каримова']);
    expect(nearest('carter', ['Emily Carter', 'Carter Emily'], (name) => name)).toEqual([
      'Carter Emily',
      'Emily Carter',
    ]);
  });

  it('are spelled nearly so where none contains it', () => {
    expect(found('emiyl')).toEqual(['Emily Carter', 'Emil Brooks']);
    expect(found('каримва')).toEqual(['Азиза Каримова']);
    expect(found('fernandes')).toEqual(['Lucía Fernández']);
  });

  it('are none where it is another word, and all where nothing was typed', () => {
    expect(found('refund')).toEqual([]);
    expect(found('abc')).toEqual([]);
    expect(found(' ')).toEqual(names);
  });
});

describe('searches with other spellings', () => {
  const said = ['delivery', 'refund', 'late', 'yetkazib', 'доставка'];

  it('have near words in place of the first that nobody said, and keep the rest', () => {
    expect(respelled('delivrey', said)).toEqual(['delivery']);
    expect(respelled('"refund delivrey" -late', said)).toEqual(['"refund delivery" -late']);
    expect(respelled('Достафка', said)).toEqual(['доставка']);
  });

  it('are none where every word was said, or no word is near', () => {
    expect(respelled('Refund delivery', said)).toEqual([]);
    expect(respelled('insurance', said)).toEqual([]);
    expect(respelled('ref', said)).toEqual([]);
  });
});
