import { describe, expect } from 'vitest'
import { expressPlatform } from '../../helpers/foreign-platforms/express.ts'
import { type ForeignPlatform, json } from '../../helpers/foreign-platforms/platform.ts'
import { test } from '../../helpers/foreign-platforms/run.ts'

interface Pages {
  /** Parameter for the page size, and its maximum. */
  readonly parameter: string
  readonly maximum: number
  /** Parameters in the OpenAPI document; null without a document. */
  readonly described: readonly object[] | null
  /** True if pages show the name of that parameter. */
  readonly shown?: boolean
  readonly components?: object
}

/** A platform with 450 users, 20 on a page by default. */
function paged({ parameter, maximum, described, shown = false, components }: Pages): ForeignPlatform {
  const platform = expressPlatform()
  const users = Array.from({ length: 450 }, (_, n) => ({ id: n, email: `u${n}@school.example` }))
  platform.intercept(({ path, query }) => {
    if (path === '/v1/openapi.json') {
      if (described === null) return json(404, { error: 'Not found' })
      return json(200, {
        openapi: '3.1.0',
        paths: { '/v1/users': { get: { parameters: described } } },
        components,
      })
    }
    const asked = Number(query.get(parameter) ?? 20)
    const size = Math.min(asked, maximum)
    const page = Number(query.get('page') ?? 1)
    const data = users.slice((page - 1) * size, page * size)
    const meta = { page, total_pages: Math.ceil(users.length / size), ...(shown && { [parameter]: size }) }
    return json(200, { data, meta })
  })
  return platform
}

const linesOf = ({ requests }: ForeignPlatform) => requests.map(({ line }) => line)

describe('--all asks for pages as large as the platform allows', () => {
  const limit = { name: 'per_page', in: 'query', schema: { type: 'integer', maximum: 250 } }

  test('by its OpenAPI document', async ({ run }) => {
    const platform = paged({ parameter: 'per_page', maximum: 250, described: [{ name: 'q' }, limit] })
    const { code, stdout } = await run(platform, 'users list --all -q')
    expect({ code, rows: stdout.trim().split('\n').length }).toEqual({ code: 0, rows: 450 })
    expect(linesOf(platform)).toEqual([
      'GET /v1/users?limit=100',
      'GET /v1/openapi.json',
      'GET /v1/users?per_page=250',
      'GET /v1/users?per_page=250&page=2',
    ])
  })

  test('by a parameter that its document shares', async ({ run }) => {
    const described = [{ $ref: '#/components/parameters/Size' }]
    const components = { parameters: { Size: { ...limit, name: 'limit', schema: { maximum: 9000 } } } }
    const platform = paged({ parameter: 'limit', maximum: 9000, described, components })
    await run(platform, 'users list --all -q')
    expect(linesOf(platform).at(-1)).toBe('GET /v1/users?limit=1000')
  })

  test('by the name that a page has for its size', async ({ run }) => {
    const platform = paged({ parameter: 'pageSize', maximum: 200, described: null, shown: true })
    const { stdout } = await run(platform, 'users list --all -q')
    expect(stdout.trim().split('\n')).toHaveLength(450)
    expect(linesOf(platform).slice(2)).toEqual(
      [1, 2, 3, 4, 5].map((n) => `GET /v1/users?pageSize=100${n > 1 ? `&page=${n}` : ''}`),
    )
  })

  test('and goes on with the pages that it has where larger ones do not come', async ({ run }) => {
    const platform = paged({ parameter: 'per_page', maximum: 20, described: [limit] })
    const { code, stdout } = await run(platform, 'users list --all -q')
    expect({ code, rows: new Set(stdout.trim().split('\n')).size }).toEqual({ code: 0, rows: 450 })
  })

  test('and asks for no document where the first page is the only one, or fewer are wanted', async ({
    run,
  }) => {
    const platform = paged({ parameter: 'limit', maximum: 450, described: [limit] })
    await run(platform, 'users list --limit 30 -q')
    expect(linesOf(platform)).not.toContain('GET /v1/openapi.json')
    const whole = expressPlatform()
    await run(whole, 'courses list --all -q')
    expect(linesOf(whole)).toEqual(['GET /v1/courses?limit=100'])
  })
})

test('a server of ours is asked for its pages alone', { tags: ['slow'] }, async ({ remote, academy }) => {
  const admin = await academy.person('admin')
  for (let n = 0; n < 101; n += 1) await admin.post('/v1/courses', { title: `Course ${n}` })
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key }
  const before = academy.logged.length
  expect(await remote.run('courses list --all -q', { env })).toMatchObject({ code: 0 })
  expect(academy.logged.slice(before).map(({ path }) => path)).toEqual(['/v1/courses', '/v1/courses'])
})

describe('a rate limit', () => {
  test.for([1, 9])(
    'of %i s is said, also in a pipe, and once for waits that follow',
    async (seconds, { run }) => {
      const platform = expressPlatform()
      let refusals = 3
      platform.intercept(() => {
        refusals -= 1
        return refusals < 0 ? undefined : json(429, {}, { 'retry-after': String(seconds) })
      })
      const { code, stderr } = await run(platform, 'courses list --all')
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: `note: Rate limited by express.example; continuing in ${seconds + 1} s\n`,
      })
    },
  )
})
