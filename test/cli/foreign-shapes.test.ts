import { describe, expect } from 'vitest'
import type { HttpResponse } from '../../src/contract/http.ts'
import { expressPlatform } from '../helpers/foreign-platforms/express.ts'
import { gatewayPlatform } from '../helpers/foreign-platforms/gateway.ts'
import { json } from '../helpers/foreign-platforms/platform.ts'
import { railsPlatform } from '../helpers/foreign-platforms/rails.ts'
import { test } from '../helpers/foreign-platforms/run.ts'

const express = () => expressPlatform()
const gateway = () => gatewayPlatform()
const ids = (platform: ReturnType<typeof express>) => platform.store.course.map(({ id }) => String(id))

describe('a list in pages', () => {
  test('is followed up to the limit, and to its end with --all', async ({ run }) => {
    const platform = railsPlatform({ courses: 30 })
    const some = await run(platform, 'courses list --columns title')
    expect(some.stdout.split('\n')).toHaveLength(21)
    expect(some).toMatchObject({ code: 0, stderr: 'note: Showing the first 20; use --all for the rest\n' })
    const all = await run(platform, 'courses list --all -o json')
    expect(all).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(all.stdout)).toHaveLength(30)
  })

  test('that cannot be followed is shown as far as it came, and is an error that counts', async ({ run }) => {
    const platform = railsPlatform({ courses: 30, paging: 'total' })
    for (const flags of ['', '--all', '--limit 15']) {
      const { code, stdout, stderr } = await run(platform, `courses list -o json ${flags}`)
      expect(JSON.parse(stdout), flags).toHaveLength(10)
      expect({ code, stderr: JSON.parse(stderr) }, flags).toMatchObject({
        code: 1,
        stderr: { error: { code: 'incomplete', message: expect.stringContaining(' 10 of 30 items') } },
      })
    }
    expect((await run(platform, 'courses list')).stderr).toBe(
      'error: rails.example returned 10 of 30 items, but not how to get the rest (GET /v1/courses)\n',
    )
  })

  test('that was cut by --limit is no error, whatever follows', async ({ run }) => {
    const platform = railsPlatform({ courses: 30, paging: 'total' })
    expect(await run(platform, 'courses list --limit 10 -q')).toMatchObject({
      code: 0,
      stderr: 'note: Showing the first 10; use --all for the rest\n',
    })
  })

  test('that breaks off keeps an export from being whole', async ({ run }) => {
    const platform = railsPlatform({ paging: 'total', pageSize: 2 })
    expect(await run(platform, 'analytics export --format json --file learners.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('returned 2 of 3 items'),
    })
    const csv = express()
    csv.intercept((_, usual) => ({
      ...usual(),
      headers: { ...usual().headers, 'x-total-count': '4' },
    }))
    for (const flags of ['', '--columns email', '--file learners.csv']) {
      expect(await run(csv, `analytics export ${flags}`), flags).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('returned 3 of 4 items'),
      })
    }
    const paged = railsPlatform({ paging: 'next', pageSize: 2 })
    const whole = await run(paged, 'analytics export --format ndjson')
    expect(whole).toMatchObject({ code: 0, stderr: expect.stringContaining('Exported 3 rows') })
  })
})

test('api --paginate shows what came as a whole document', async ({ run }) => {
  const ran = await run(railsPlatform({ courses: 12, paging: 'total' }), 'api courses.list --paginate')
  expect(JSON.parse(ran.stdout)).toHaveLength(10)
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('returned 10 of 12 items') })
})

describe('an id', () => {
  test.for([
    ['_id', express],
    ['a number', () => railsPlatform()],
    ['the name of the thing', gateway],
  ] as const)('under %s is printed by --quiet, in tables and in CSV', async ([, make], { run }) => {
    const platform = make()
    const lines = `${ids(platform).join('\n')}\n`
    expect(await run(platform, 'courses list -q')).toEqual({ code: 0, stdout: lines, stderr: '' })
    expect((await run(platform, 'courses list --columns id')).stdout).toBe(lines)
    const csv = (await run(platform, 'courses list -o csv')).stdout.split('\r\n')
    expect(
      csv[0]?.split(',').filter((name) => /id$/i.test(name) && !/^(termId|\w*externalId)$/i.test(name)),
    ).toEqual(['id'])
    expect(csv[1]).toContain(ids(platform)[0])
  })

  test('is printed by a write that has it in its answer or in Location', async ({ run }) => {
    const platform = railsPlatform()
    expect(await run(platform, 'courses create --title Sea -q')).toMatchObject({ code: 0, stdout: '4\n' })
    platform.intercept(({ method }, usual) => (method === 'POST' ? { ...usual(), body: '{}' } : undefined))
    expect(await run(platform, 'courses create --title Sea -q')).toMatchObject({ code: 0, stdout: '5\n' })
    expect(await run(platform, 'courses create --title Lake')).toEqual({
      code: 0,
      stdout: '6\n',
      stderr: 'Created course Lake (6)\nnote: The response does not contain the record; its id is 6\n',
    })
  })

  test.for([['{"message":"created"}'], ['null'], [''], ['[]']])(
    'that a write answers nowhere (%j) is a note: it has succeeded',
    async ([body = ''], { run }) => {
      const platform = express()
      platform.intercept(({ method }) =>
        method === 'POST'
          ? { status: 201, headers: { 'content-type': 'application/json' }, body }
          : undefined,
      )
      const note = 'note: The response has no id; find it with: learnctl courses list\n'
      expect(await run(platform, 'courses create --title Sea -q')).toEqual({
        code: 0,
        stdout: '',
        stderr: note,
      })
      expect(await run(platform, 'courses create --title Sea')).toEqual({
        code: 0,
        stdout: '',
        stderr: `Created course Sea\n${note}`,
      })
      expect(await run(platform, 'courses create --title Sea -o json')).toMatchObject({
        code: 0,
        stderr: note,
      })
    },
  )

  test('of a change without one in its answer is the one that was given', async ({ run }) => {
    const platform = express()
    const [id] = ids(platform)
    platform.intercept(({ method }) => (method === 'PUT' ? json(200, { message: 'Updated' }) : undefined))
    expect(await run(platform, `courses update ${id} --title Oceans`)).toEqual({
      code: 0,
      stdout: `${id}\n`,
      stderr: `Updated course Oceans (${id})\nnote: The response does not contain the record\n`,
    })
    expect(await run(platform, `courses update ${id} --title Oceans -q`)).toMatchObject({ stdout: `${id}\n` })
  })
})

describe('the fields of a platform', () => {
  test('stay as they came in JSON, and stand in the usual columns of a table', async ({ run }) => {
    const platform = express()
    const [course = {}] = JSON.parse((await run(platform, 'courses list -o json')).stdout)
    expect(course).toMatchObject({ _id: ids(platform)[0], created_at: '2026-01-31T09:30:00Z', __v: 0 })
    expect((await run(platform, 'courses list --columns createdAt --limit 1')).stdout).toBe(
      '2026-01-31T09:30:00Z\n',
    )
  })

  test('come out of an envelope', async ({ run }) => {
    for (const platform of [railsPlatform(), gateway()]) {
      expect(await run(platform, 'users me --columns email,role')).toMatchObject({
        code: 0,
        stdout: 'owner@school.example\tadmin\n',
      })
    }
  })

  test('are not made up where a write answers nothing', async ({ run }) => {
    const platform = railsPlatform()
    expect(await run(platform, 'progress set 2 --course 1 --completion 60 -o json')).toEqual({
      code: 0,
      stdout: 'null\n',
      stderr: 'note: The response does not contain the record\n',
    })
    const { stdout } = await run(
      gateway(),
      'progress set user-1002 --course course-1001 --completion 60 -o json',
    )
    expect(JSON.parse(stdout)).toMatchObject({ learnerId: 'user-1002', completionPercentage: '60.00' })
  })

  test('say who is signed in', async ({ run }) => {
    for (const platform of [express(), railsPlatform(), gateway()]) {
      const { stdout } = await run(platform, 'auth status -o json')
      const [owner] = platform.store.user
      expect(JSON.parse(stdout).user).toEqual({ id: owner?.['id'], email: owner?.['email'], role: 'admin' })
    }
  })

  test('name a course in what was done to it', async ({ run }) => {
    for (const platform of [express(), railsPlatform(), gateway()]) {
      const [id] = ids(platform)
      const { code, stdout, stderr } = await run(platform, `courses publish ${id}`)
      expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` })
      expect(stderr).toMatch(new RegExp(`^Published course Marine Biology \\(${id}\\)`))
    }
  })
})

describe('an answer with status 200', () => {
  test('that says it failed is an error, in its own words', async ({ run }) => {
    const platform = gateway()
    for (const line of [
      'courses update course-9 --title x',
      'lessons create --course course-9 --title x',
      'progress set user-9 --course course-9 --completion 10',
    ]) {
      expect(await run(platform, line), line).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^error: .*not found\n/i),
      })
    }
  })

  test('that says it failed with a status is what that status means', async ({ run }) => {
    const platform = express()
    platform.intercept(() => json(200, { statusCode: 404, error: 'Not Found', message: 'No such course' }))
    expect(await run(platform, 'courses update 5 --title x')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('No such course'),
    })
  })

  test.for([
    ['courses list'],
    ['users me'],
    ['analytics export'],
    ['courses delete 5 --yes'],
    ['courses create --title x'],
  ])('that holds errors is none for %s', async ([line = ''], { run }) => {
    const platform = express()
    platform.intercept(() =>
      json(200, { errors: [{ id: 7, title: 'Quota exceeded', message: 'Quota exceeded' }] }),
    )
    expect(await run(platform, line)).toMatchObject({ code: 1, stdout: '' })
  })

  test.for([['courses list'], ['users me'], ['courses get 5']])(
    'that holds nothing is none for %s',
    async ([line = ''], { run }) => {
      for (const body of ['null', '']) {
        const platform = express()
        platform.intercept(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body }))
        expect(await run(platform, line)).toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(/^error: The response from .* (is empty|contains no list)\n$/),
        })
      }
    },
  )
})

describe('where only the eight operations are', () => {
  test('a course is shown from the list, whichever page it is on', async ({ run }) => {
    const platform = railsPlatform({ courses: 25 })
    expect(await run(platform, 'courses get 25 --columns id,title')).toEqual({
      code: 0,
      stdout: '25\tCourse 25\n',
      stderr: 'note: The platform does not support courses.get; showing the entry from its list\n',
    })
  })

  test('one that is not in the list is not found, or not offered', async ({ run }) => {
    const platform = railsPlatform({ courses: 25 })
    expect(await run(platform, 'courses get 26')).toEqual({
      code: 3,
      stdout: '',
      stderr:
        'error: rails.example has no course 26, or does not support courses.get (GET /v1/courses/26 returned 404)\n',
    })
    expect(await run(platform, 'courses delete 26 --yes')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has no course 26, or does not support courses.'),
    })
  })

  test('one that is in the list cannot be deleted', async ({ run }) => {
    const platform = express()
    const [id] = ids(platform)
    expect(await run(platform, `courses delete ${id} --yes`)).toMatchObject({
      code: 1,
      stderr: `error: express.example does not support courses.delete (DELETE /v1/courses/${id} returned 404)\n`,
    })
  })

  describe.for([
    ['a web page', ' and a web page', page],
    ['success: false', ': No route', () => json(200, { success: false, message: 'No route' })],
    ['an error', ': Unknown', () => json(200, { error: 'Unknown' })],
  ] as const)('and 200 with %s for every other path', ([, said, answer]) => {
    const fallingBack = (also: readonly string[] = []) => {
      const platform = express()
      platform.intercept(({ path }) =>
        /\/(courses|learners)\/./.test(path) || also.includes(path) ? answer() : undefined,
      )
      return platform
    }

    test('a course is shown from the list', async ({ run }) => {
      const platform = fallingBack()
      const id = ids(platform)[1] ?? ''
      expect(await run(platform, `courses get ${id} --columns id`)).toEqual({
        code: 0,
        stdout: `${id}\n`,
        stderr: 'note: The platform does not support courses.get; showing the entry from its list\n',
      })
    })

    test('one that is not in the list is not found, or not offered', async ({ run }) => {
      const { code, stdout, stderr } = await run(fallingBack(), 'courses get nil')
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
      expect(stderr).toMatch(
        /^error: express\.example has no course nil, or does not support courses\.get \(/,
      )
      expect(stderr).toContain(`(GET /v1/courses/nil returned 200${said})\n`)
    })

    test('what came is told where there is no list either', async ({ run }) => {
      const { code, stderr } = await run(fallingBack(['/v1/courses']), 'courses get nil')
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^error: (The response from .* is a web page, not JSON; .*|(No route|Unknown)\n {2}\S+ returned 200 .*)\n$/,
      )
    })
  })
})

function page(): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: '<!doctype html><div id="app"></div>',
  }
}
