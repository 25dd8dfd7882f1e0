import { expect, test } from 'vitest'
import { createRequestLoad } from '../../../src/server/events/rounds.ts'

test('there is a crowd while more than 300 a second ask, and none soon after', () => {
  let time = 0
  const crowd = createRequestLoad(() => time)
  const ask = (perSecond: number, ms: number) => {
    for (const end = time + ms; time < end; time += 1000 / perSecond) crowd.asked()
  }
  ask(200, 1000)
  expect(crowd.isBusy()).toBe(false)
  ask(400, 1000)
  expect(crowd.isBusy()).toBe(true)
  time += 250
  expect(crowd.isBusy()).toBe(false)
})
