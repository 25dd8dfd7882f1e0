import { expect, test } from 'vitest'
import { foundList, listBodyOf } from '../../../src/client/foreign/body.ts'
import { courses } from '../../../src/contract/courses.ts'

const target = { method: 'GET', url: 'https://academy.example/v1/courses?limit=2' }
const sea = { _id: '1', title: 'Sea' }

test.each([
  [[sea], { data: [sea], nextCursor: null }],
  [
    { data: [sea], nextCursor: 'c' },
    { data: [sea], nextCursor: 'c' },
  ],
  [
    { data: [sea], nextCursor: '' },
    { data: [sea], nextCursor: null },
  ],
  [
    { data: [], warnings: [1] },
    { data: [], warnings: [1], nextCursor: null },
  ],
  [
    { courses: [], count: 0 },
    { courses: [], count: 0, data: [], nextCursor: null },
  ],
])('the list in %j is shown in data, with what is beside it', (body, expected) => {
  expect(listBodyOf(foundList(target, body, courses.list))).toEqual(expected)
})

test.each([
  ['named after the noun', { courses: [sea], total: 1 }],
  ['named so among others', { tags: ['a'], courses: [sea], errors: [] }],
  ['named as lists are', { results: [sea], count: 1 }],
  ['whose things look like courses', { kurse: [sea] }],
  ['in an envelope', { success: true, data: { courses: [sea] } }],
  ['in an envelope of one member', { answer: { items: [sea] } }],
  ['of HAL', { _embedded: { courseList: [sea] }, _links: { self: { href: '/' } }, page: { size: 20 } }],
])('a list is found: %s', (_, body) => {
  expect(foundList(target, body, courses.list).items).toEqual([sea])
})

test.each([[{ courses: null, total: 0 }], [{ data: { courses: null } }]])(
  'a list of nothing may be null under its name: %j',
  (body) => {
    expect(foundList(target, body, courses.list).items).toEqual([])
  },
)

test.each([
  ...[null, 'text', 7, {}, { data: {} }, { data: null }, { a: [], b: [] }],
  { errors: [{ id: 1, title: 'Not allowed' }] },
  { links: [{ rel: 'self', href: '/' }] },
  { tags: [{ id: 1, title: 'sea' }] },
  { anything: [1, 2] },
  { anything: [] },
  { anything: [{ rel: 'self' }] },
])('%j holds no list, which is said in one line', (body) => {
  expect(() => foundList(target, body, courses.list)).toThrow(
    'The response from academy.example to GET /v1/courses contains no list',
  )
})
