import { expect, test } from 'vitest'
import { crowdBy } from '../../../../src/server/webhooks/outbox/crowd.ts'

test('there is a crowd while more than 300 a second ask, and none soon after', () => {
  let time = 0
  const crowd = crowdBy(() => time)
  const ask = (perSecond: number, ms: number) => {
    for (const end = time + ms; time < end; time += 1000 / perSecond) crowd.asked()
  }
  ask(200, 1000)
  expect(crowd.isThere()).toBe(false)
  ask(400, 1000)
  expect(crowd.isThere()).toBe(true)
  time += 250
  expect(crowd.isThere()).toBe(false)
})
