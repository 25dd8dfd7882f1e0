import { expect, test } from 'vitest'
import { createRequestLoad } from '../../../src/server/events/rounds.ts'

test('there is a crowd while more than 300 a second ask, and none soon after', () => {
  let time = 0
  const load = createRequestLoad(() => time)
  const ask = (perSecond: number, ms: number) => {
    for (const end = time + ms; time < end; time += 1000 / perSecond) load.asked()
  }
  ask(200, 1000)
  expect(load.isBusy()).toBe(false)
  ask(400, 1000)
  expect(load.isBusy()).toBe(true)
  time += 250
  expect(load.isBusy()).toBe(false)
})
