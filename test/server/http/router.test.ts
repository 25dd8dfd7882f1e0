import { expect, test } from 'vitest'
import { createRouter } from '../../../src/server/http/app.ts'

const router = createRouter([
  { method: 'GET', path: '/courses' },
  { method: 'POST', path: '/courses' },
  { method: 'GET', path: '/courses/:courseId' },
  { method: 'DELETE', path: '/courses/:courseId' },
  { method: 'POST', path: '/courses/batch' },
  { method: 'GET', path: '/courses/:courseId/versions/:version' },
  { method: 'GET', path: '/pages/first' },
  { method: 'GET', path: '/pages/*' },
  { method: 'GET', path: '/pages/last' },
  { method: 'GET', path: '/' },
])

test.for([
  ['GET', '/courses', '/courses', {}],
  ['HEAD', '/courses', '/courses', {}],
  ['GET', '/courses/crs_1', '/courses/:courseId', { courseId: 'crs_1' }],
  ['GET', '/courses/ext%3AA%20B', '/courses/:courseId', { courseId: 'ext:A B' }],
  ['GET', '/courses/100%', '/courses/:courseId', { courseId: '100%' }],
  ['GET', '/courses/__proto__', '/courses/:courseId', { courseId: '__proto__' }],
  ['POST', '/courses/batch', '/courses/batch', {}],
  ['GET', '/courses/batch', '/courses/:courseId', { courseId: 'batch' }],
  ['GET', '/courses/a/versions/2', '/courses/:courseId/versions/:version', { courseId: 'a', version: '2' }],
  ['GET', '/pages/first', '/pages/first', {}],
  ['GET', '/pages/last', '/pages/last', {}],
  ['GET', '/pages/a/b', '/pages/*', {}],
  ['GET', '/pages', '/pages/*', {}],
  ['GET', '/', '/', {}],
] as const)('%s %s leads to %s', ([method, path, place, params]) => {
  const found = router(method, path)
  expect(found?.place.path).toBe(place)
  expect(found?.params).toEqual(params)
})

test.for(['/nothing', '/courses/', '/courses//versions/1', '/courses/a/versions', '//', '/constructor', ''])(
  'nothing is at %s',
  (path) => {
    expect(router('GET', path)).toBe(undefined)
  },
)

test('for an unsupported method, the supported ones are listed', () => {
  expect(router('PUT', '/courses/a')?.allow).toBe('HEAD, GET, DELETE, OPTIONS')
  expect(router('PUT', '/courses/batch')?.allow).toBe('HEAD, POST, GET, DELETE, OPTIONS')
  expect(router('PUT', '/pages/first')?.allow).toBe('HEAD, GET, OPTIONS')
  expect(router('PUT', '/pages/other')?.allow).toBe('HEAD, GET, OPTIONS')
})
