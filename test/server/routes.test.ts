import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import { openAcademy } from '../../src/server/academy/local-academy.ts'
import { loadAllRoutes, resourceIn, routesFor } from '../../src/server/routes.ts'
import { freshDirectory } from '../helpers/academy.ts'

test.for(operations)('$method $path is among the routes that are loaded for its path', async (operation) => {
  const routes = await routesFor(resourceIn(operation.path))
  expect(routes.map((route) => route.operation)).toContain(operation)
})

test('all routes are those of the contract, each once', async () => {
  const ids = (await loadAllRoutes()).map(({ operation }) => operation.id)
  expect(ids.sort()).toEqual(operations.map(({ id }) => id).sort())
})

test('what answers a request without parameters has the query and the handler of the whole resource', async () => {
  const plain = (
    await Promise.all(['courses', 'users', 'learners'].map((step) => routesFor(step, true)))
  ).flat()
  expect(plain.map(({ operation }) => operation.id)).toEqual([
    'courses.list',
    'courses.get',
    'users.list',
    'users.get',
    'progress.list',
  ])
  const all = await loadAllRoutes()
  for (const { operation, handle, queryOf } of plain) {
    const whole = all.find((route) => route.operation.id === operation.id)
    expect(operation).toMatchObject({ path: whole?.operation.path, method: 'GET', scope: 'read' })
    expect(queryOf('')).toEqual(whole?.queryOf(''))
    expect(handle).toBe(whole?.handle)
  }
})

test('a local academy finds all operations, and refuses missing ones', async ({ onTestFinished }) => {
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  const { transport, close } = await openAcademy({ path: join(path, 'academy.db') })
  const ask = async (method: string, target: string, body?: string) => {
    const sent = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body }
    const reply = await transport({ method, url: `http://localhost${target}`, headers: {}, ...sent })
    return { status: reply.status, allow: reply.headers['allow'], text: String(reply.body) }
  }
  const made = await ask('POST', '/v1/courses', '{"title":"Biology"}')
  const { id } = JSON.parse(made.text) as { id: string }
  expect(await ask('GET', `/v1/courses/${id}/versions`)).toMatchObject({ status: 200 })
  expect(await ask('HEAD', '/v1/courses')).toMatchObject({ status: 200 })
  expect(await ask('GET', '/v1/courses?limit=0')).toMatchObject({ status: 400 })
  expect(await ask('GET', '/v1/user/profile')).toMatchObject({ status: 200 })
  expect(await ask('GET', '/v1/courses/a/b')).toMatchObject({ status: 404 })
  expect(await ask('DELETE', '/v1/courses')).toMatchObject({ status: 405, allow: 'HEAD, GET, POST, OPTIONS' })
  expect(await ask('OPTIONS', '/v1/courses')).toMatchObject({
    status: 204,
    allow: 'HEAD, GET, POST, OPTIONS',
  })
  await close()
})
