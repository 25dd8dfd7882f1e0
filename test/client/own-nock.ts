import nock from 'nock'
import { afterAll, beforeAll } from 'vitest'

// nock intercepts from its import on, also where a filter leaves every test of a file out.
nock.restore()

/** Makes nock intercept the network for the tests of this file, and restores the network afterwards. */
export function useNock(): void {
  // Importing nock activates it for everything that runs in this process later.
  beforeAll(() => {
    if (!nock.isActive()) nock.activate()
    nock.disableNetConnect()
  })
  afterAll(() => nock.restore())
}
