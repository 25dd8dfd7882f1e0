import { expect, test } from 'vitest'
import { operations } from '../../src/contract/index.ts'
import { allRoutes, resourceIn, routesFor } from '../../src/server/routes.ts'

test.for(operations)('$method $path is among the routes that are loaded for its path', async (operation) => {
  const routes = await routesFor(resourceIn(operation.path))
  expect(routes.map((route) => route.operation)).toContain(operation)
})

test('all routes are those of the contract, each once', async () => {
  const ids = (await allRoutes()).map(({ operation }) => operation.id)
  expect(ids.sort()).toEqual(operations.map(({ id }) => id).sort())
})
