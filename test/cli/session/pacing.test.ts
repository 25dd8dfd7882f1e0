import { describe, expect, test } from 'vitest'
import { createPacing } from '../../../src/cli/session/pacing.ts'

/** Work that ends on demand, and the pieces that have begun. */
function works() {
  const begun: string[] = []
  const enders = new Map<string, (error?: Error) => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<void>((resolve, reject) => {
      enders.set(name, (error) => (error ? reject(error) : resolve()))
    })
  }
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  const end = async (name: string, error?: Error) => {
    enders.get(name)?.(error)
    await turn()
  }
  return { begun, work, end, turn }
}

const never = () => new Promise<void>(() => {})

describe('a pace', () => {
  test('begins with two at once, and grows by one for each round that went well, up to its maximum', async () => {
    const { work, end } = works()
    const pacing = createPacing(4, never)
    expect(pacing.room).toBe(2)
    for (let index = 0; index < 20; index += 1) {
      await pacing.run(work(`${index}`))
      await end(`${index}`)
    }
    expect(pacing.room).toBe(4)
  })

  test('halves once for all that are told to wait together, and begins nothing until the wait is over', async () => {
    const { begun, work, end, turn } = works()
    let over = () => {}
    const waits: number[] = []
    const pacing = createPacing(8, (ms) => {
      waits.push(ms)
      return new Promise((resolve) => {
        over = resolve
      })
    })
    for (let index = 0; index < 60; index += 1) {
      await pacing.run(work(`${index}`))
      await end(`${index}`)
    }
    expect(pacing.room).toBe(8)
    pacing.slowDown(7000)
    pacing.slowDown(7000)
    expect(pacing.room).toBe(4)
    expect(waits).toEqual([7000])
    const next = pacing.run(work('next'))
    await turn()
    expect(begun).not.toContain('next')
    over()
    await next
    expect(begun).toContain('next')
    pacing.slowDown(1000)
    expect(pacing.room).toBe(2)
  })

  test('does what shares a lane in order, and the rest beside it', async () => {
    const { begun, work, end, turn } = works()
    const pacing = createPacing(8, never)
    for (let index = 0; index < 60; index += 1) {
      await pacing.run(work(`${index}`))
      await end(`${index}`)
    }
    begun.length = 0
    await pacing.run(work('ada 1'), ['ada'])
    await pacing.run(work('ada 2'), ['ada', 'grace'])
    await pacing.run(work('grace'), ['grace'])
    await pacing.run(work('jean'), ['jean'])
    await turn()
    expect(begun).toEqual(['ada 1', 'jean'])
    await end('ada 1')
    expect(begun).toEqual(['ada 1', 'jean', 'ada 2'])
    await end('ada 2')
    expect(begun.at(-1)).toBe('grace')
    await end('grace')
    await end('jean')
    await pacing.settled()
  })

  test('begins nothing more once a work has failed, and throws what it threw', async () => {
    const { begun, work, end } = works()
    const pacing = createPacing(8, never)
    await pacing.run(work('one'), ['lane'])
    await pacing.run(work('two'), ['lane'])
    await end('one', new Error('gone'))
    await expect(pacing.run(work('three'))).rejects.toThrow('gone')
    await expect(pacing.settled()).rejects.toThrow('gone')
    expect(begun).toEqual(['one'])
  })
})
