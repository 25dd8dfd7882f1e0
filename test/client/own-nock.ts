import nock from 'nock'
import { afterAll, beforeAll } from 'vitest'

/** Has nock stand between the tests of this file and the network, and lets it go after them. */
export function ownNock(): void {
  // Importing nock turns it on, for whatever runs in this process afterwards too.
  beforeAll(() => {
    if (!nock.isActive()) nock.activate()
    nock.disableNetConnect()
  })
  afterAll(() => nock.restore())
}
