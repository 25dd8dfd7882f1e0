import { expect, test } from 'vitest'
import { memberTexts } from '../../src/lms/verify.ts'

const texts = (json: string) => memberTexts(Buffer.from(json), 'token')

test('the texts of a member are found in any object, escapes read, without reading the rest', () => {
  expect(texts('{"token":"a\\/b\\u00e9\\"c"}')).toEqual(['a/bé"c'])
  expect(texts('{ "other" : { "token" \n:\t"one" }, "token": "two" }')).toEqual(['one', 'two'])
  expect(texts(`{"token":"one","a":${'['.repeat(100_000)}`)).toEqual(['one'])
  expect(texts('{"atoken":"x","token":5,"token":null,"token":"\\q"}')).toEqual([])
})

test('few of them are looked at, none of them longer than a secret', () => {
  expect(texts(`[${'{"token":"x"},'.repeat(10_000)}`)).toHaveLength(8)
  expect(texts(`[${'{"token":"\\q"},'.repeat(10_000)}{"token":"x"}]`)).toEqual([])
  expect(texts(`{"token":"${'\\u00e9'.repeat(4096)}"}`)).toEqual(['é'.repeat(4096)])
  expect(texts(`{"token":"${'x'.repeat(100_000)}"}`)).toEqual([])
})
