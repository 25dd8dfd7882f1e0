import sql from 'sql-template-tag'
import { afterAll, describe, expect, test } from 'vitest'
import { NotMet } from '../../../../src/server/database/database.ts'
import { ProblemError } from '../../../../src/server/problem-error.ts'
import { openTestPostgres, withoutPostgres } from '../../../helpers/postgres.ts'

const insert = (name: string, value = '') =>
  sql`insert into settings (name, value) values (${name}, ${value})`
const named = (name: string) => sql`select name, value from settings where name = ${name}`

describe.skipIf(withoutPostgres !== false)('on the PostgreSQL of LEARNCTL_TEST_POSTGRES', () => {
  // Making a database takes a while: all tests share one, each with its own names.
  let opened: ReturnType<typeof openTestPostgres> | undefined
  const store = async () => {
    opened ??= openTestPostgres()
    return (await opened).store
  }
  afterAll(async () => {
    await (await opened)?.[Symbol.asyncDispose]()
  })

  test('numbers of every kind are numbers, true and false are 1 and 0, and JSON is the text that was stored', async () => {
    const query = sql`select 9007199254740991::bigint as big, 3::integer as whole, 0.1::double precision as real,
      sum(1.5) as sum, count(*) as count, true as yes, false as no, null as nothing,
      '{"b": 1, "a":2}'::json as document, ${'é"\\'} || '' as text`
    expect(await (await store()).one(query)).toEqual({
      big: 9007199254740991,
      whole: 3,
      real: 0.1,
      sum: 1.5,
      count: 1,
      yes: 1,
      no: 0,
      nothing: null,
      document: '{"b": 1, "a":2}',
      text: 'é"\\',
    })
  })

  test('a boolean is written as 1 or 0, and a value that is left out is refused', async () => {
    const { one } = await store()
    expect(await one(sql`select ${true}::integer as yes, ${false}::integer as no`)).toEqual({ yes: 1, no: 0 })
    await expect(one(sql`select ${undefined} as value`)).rejects.toThrow(TypeError)
  })

  test('text sorts by its bytes, so that a cursor of one engine is valid on the other', async () => {
    const { run, cells } = await store()
    await run(
      sql`insert into settings (name, value) values ('s-b', ''), ('s-B', ''), ('s-é', ''), ('s-a', '')`,
    )
    const sorted = await cells(sql`select name from settings where name > 's-' and name < 's.' order by name`)
    expect(sorted.flat()).toEqual(['s-B', 's-a', 's-b', 's-é'])
  })

  test('a write commits all of it, or nothing when it throws', async () => {
    const { write, one } = await store()
    expect(await write(async ({ run }) => run(insert('kept')))).toBe(1)
    const failing = write(async ({ run }) => {
      await run(insert('lost'))
      throw new ProblemError('not_found', 'Course x not found.')
    })
    await expect(failing).rejects.toMatchObject({ code: 'not_found' })
    expect([await one(named('kept')), await one(named('lost'))]).toEqual([
      { name: 'kept', value: '' },
      undefined,
    ])
  })

  test('a savepoint undoes itself alone, one inside another too, and even after a statement that failed', async () => {
    const { write, all } = await store()
    await write(async ({ run, savepoint }) => {
      await run(insert('p-before'))
      const inner = savepoint(async () => {
        await run(insert('p-outer'))
        await savepoint(() => run(insert('p-deep')))
        await savepoint(async () => run(sql`select no_such_column from settings`)).catch(() => undefined)
        await run(insert('p-outer-2'))
      })
      await inner
      await savepoint(async () => {
        await run(insert('p-undone'))
        throw new Error('no')
      }).catch(() => undefined)
      await run(insert('p-after'))
    })
    const names = await all(sql`select name from settings where name like 'p-%' order by name`)
    expect(names.map(({ name }) => name)).toEqual(['p-after', 'p-before', 'p-deep', 'p-outer', 'p-outer-2'])
  })

  test('a write that goes on after a statement that failed is undone, and says what failed', async () => {
    const { write, one } = await store()
    const swallowing = write(async ({ run }) => {
      await run(insert('swallowed'))
      await run(sql`select no_such_column`).catch(() => undefined)
    })
    await expect(swallowing).rejects.toThrow('no_such_column')
    expect(await one(named('swallowed'))).toBeUndefined()
  })

  test('statements that are not waited for run in their order, and commit with the others', async () => {
    const { write, one } = await store()
    const seen = await write(async ({ queue, one, run }) => {
      queue(insert('later', 'a'))
      queue(sql`update settings set value = value || 'b' where name = 'later'`)
      const [row] = await Promise.all([
        one(named('later')),
        run(sql`delete from settings where name = 'later'`),
      ])
      queue(insert('later', 'c'))
      return row
    })
    expect([seen, await one(named('later'))]).toEqual([
      { name: 'later', value: 'ab' },
      { name: 'later', value: 'c' },
    ])
  })

  test('a write is rolled back if a statement that it did not await failed, and says what failed', async () => {
    const { write, one } = await store()
    const wrong = sql`select no_such_column`
    const last = write(async ({ run, queue }) => {
      await run(insert('undone'))
      queue(wrong)
    })
    await expect(last).rejects.toThrow('no_such_column')
    const early = write(async ({ run, queue }) => {
      queue(wrong)
      await run(insert('undone'))
    })
    await expect(early).rejects.toThrow('no_such_column')
    expect(await one(named('undone'))).toBeUndefined()
    const inside = write(async ({ savepoint, queue }) => {
      await savepoint(async () => queue(wrong)).catch(() => undefined)
      queue(insert('after it'))
    })
    await inside
    expect(await one(named('after it'))).toMatchObject({ name: 'after it' })
  })

  test('a write on a condition does nothing where that finds no row, whatever else it threw', async () => {
    const { write, one } = await store()
    const conditional = (name: string, then: () => void = () => undefined) =>
      write(async ({ requireRow, queue }) => {
        requireRow(named(name))
        queue(insert(`only with ${name}`))
        then()
      })
    await conditional('kept')
    await expect(conditional('missing')).rejects.toThrow(NotMet)
    const refusing = conditional('missing', () => {
      throw new ProblemError('not_found', 'Course x not found.')
    })
    await expect(refusing).rejects.toThrow(NotMet)
    expect([await one(named('only with kept')), await one(named('only with missing'))]).toEqual([
      { name: 'only with kept', value: '' },
      undefined,
    ])
  })

  test('a write that conflicts in a statement that it does not await is retried', async () => {
    const { write } = await store()
    let tries = 0
    const answer = await write(async ({ queue }) => {
      tries += 1
      queue(insert(tries > 1 ? 'l-free' : 'kept'))
      return 'made'
    })
    expect([answer, tries]).toEqual(['made', 2])
  })

  test('a write that conflicts with another of the same key is retried, and sees its row', async () => {
    const { write } = await store()
    let tries = 0
    const answer = await write(async ({ one, run }) => {
      tries += 1
      // As if the other one were committed after this one began: only the retry checks.
      if (tries > 1 && (await one(named('kept')))) return 'taken'
      await run(insert('kept'))
      return 'made'
    })
    expect([answer, tries]).toEqual(['taken', 2])
  })

  test('a conflict that was caught inside a savepoint retries the whole write', async () => {
    const { write } = await store()
    let tries = 0
    const answer = await write(async ({ run, savepoint }) => {
      tries += 1
      return savepoint(() => run(insert(tries > 1 ? 'k-free' : 'kept'))).catch(() => 'refused')
    })
    expect([answer, tries]).toEqual([1, 2])
  })

  test('a write that conflicts with itself ends after ten attempts, with the original fault', async () => {
    const { write } = await store()
    let tries = 0
    const failing = write(async ({ run }) => {
      tries += 1
      await run(insert('kept'))
    })
    await expect(failing).rejects.toMatchObject({ code: '23505' })
    expect(tries).toBe(10)
  })

  test('a statement after the end of its transaction is refused: its connection has another owner', async () => {
    const { write } = await store()
    const { run } = await write(async (transaction) => {
      await transaction.run(insert('ended'))
      return transaction
    })
    await expect(run(insert('too-late'))).rejects.toThrow('after the end')
  })

  test('a read cannot write', async () => {
    const { read } = await store()
    await expect(read(async ({ run }) => run(insert('by-read')))).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  test('text with U+0000 is refused as what it is', async () => {
    const { run } = await store()
    await expect(run(insert('n', 'a\u0000b'))).rejects.toMatchObject({
      status: 422,
      message: 'Text cannot contain the character U+0000.',
    })
  })

  test('a stream has all rows in their order, a thousand at a time, and gives its connection back when it is left', async () => {
    const { stream, one } = await store()
    const sizes: number[] = []
    for await (const rows of stream(sql`select g from generate_series(1, ${2500}::integer) g order by g`)) {
      sizes.push(rows.length)
      expect(rows[0]).toEqual([sizes.length * 1000 - 999])
    }
    expect(sizes).toEqual([1000, 1000, 500])
    for (let turn = 0; turn < 5; turn += 1) {
      for await (const rows of stream(sql`select g from generate_series(1, 5000) g`)) {
        expect(rows).toHaveLength(1000)
        break
      }
    }
    expect(await one(sql`select 1 as here`)).toEqual({ here: 1 })
  })
})
