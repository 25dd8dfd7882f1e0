import { describe, expect, it, test } from 'vitest'
import { colourLevel, pluralise } from '../../../src/cli/terminal/format-text.ts'

test('a number that may be larger says so', () => {
  expect([pluralise(1, 'lesson'), pluralise(12, 'lesson')]).toEqual(['1 lesson', '12 lessons'])
  expect([pluralise(10_000, 'lesson', false), pluralise(1, 'lesson', false)]).toEqual([
    '10,000+ lessons',
    '1+ lessons',
  ])
})

const terminal = { isTTY: true }
const pipe = {}

describe('colour', () => {
  it.each<[string, 0 | 1 | 2 | 3, { isTTY?: boolean }, Record<string, string>, 'auto' | 'always' | 'never']>([
    ['is there on a terminal', 1, terminal, { TERM: 'xterm' }, 'auto'],
    ['is not there in a pipe', 0, pipe, { TERM: 'xterm' }, 'auto'],
    ['is never there because of CI', 0, pipe, { CI: '1' }, 'auto'],
    ['is switched off by NO_COLOR', 0, terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, 'auto'],
    ['minds no empty NO_COLOR', 1, terminal, { NO_COLOR: '' }, 'auto'],
    ['is forced by FORCE_COLOR', 1, pipe, { FORCE_COLOR: '1', TERM: 'dumb' }, 'auto'],
    ['is forced by CLICOLOR_FORCE', 1, pipe, { CLICOLOR_FORCE: '1' }, 'auto'],
    ['is not forced by FORCE_COLOR=0', 0, terminal, { FORCE_COLOR: '0' }, 'auto'],
    ['is not there on a dumb terminal', 0, terminal, { TERM: 'dumb' }, 'auto'],
    ['is there by --color always before NO_COLOR', 1, pipe, { NO_COLOR: '1' }, 'always'],
    ['is not there by --color never before FORCE_COLOR', 0, terminal, { FORCE_COLOR: '1' }, 'never'],
    ['knows terminals of 256 colours', 2, terminal, { TERM: 'xterm-256color' }, 'auto'],
    ['knows terminals of all colours', 3, terminal, { COLORTERM: 'truecolor' }, 'auto'],
  ])('%s', (_, level, stream, env, mode) => {
    expect(colourLevel(stream, env, mode)).toBe(level)
  })
})
