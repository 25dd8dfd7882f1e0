import { Chalk } from 'chalk'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { loadTable } from '../../../../src/cli/output/formats/table.ts'

const chalk = new Chalk({ level: 0 })
const named = (...paths: string[]) => paths.map((path) => ({ path, label: path }))
const columns = named('title', 'status', 'updatedAt', 'id')
const rows = [
  {
    id: 'crs_0123456789',
    title: 'Marine biology for absolute beginners',
    status: 'draft',
    updatedAt: '2026-03-01',
  },
  { id: 'crs_9876543210', title: '日本語のコース', status: 'published', updatedAt: '2026-03-02' },
]

async function draw(width: number, chosen = false, shown = columns): Promise<string[]> {
  const list = (await loadTable({ columns: shown, chosen, width, chalk })).list()
  return (list.rows(rows) + list.end()).split('\n').slice(0, -1)
}

describe('a table', () => {
  it('is aligned under its head', async () => {
    const [head = '', first = '', second = ''] = await draw(120)
    expect(head).toMatch(/^title +status +updatedAt +id$/)
    expect(first.indexOf('draft')).toBe(head.indexOf('status'))
    expect(stringWidth(second.slice(0, second.indexOf('published')))).toBe(head.indexOf('status'))
  })

  it.each([[40], [60], [80]])('fits into %d columns', async (width) => {
    for (const line of await draw(width)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
  })

  it('shortens long texts before ids, and shows that it did', async () => {
    const [, first] = await draw(60)
    expect(first).toContain('crs_0123456789')
    expect(first).toMatch(/Marine biolog.*…/)
  })

  it('leaves columns out where there is no room, ids last, and says which', async () => {
    const list = (await loadTable({ columns, chosen: false, width: 60, chalk })).list()
    expect(list.rows(rows)).toMatch(/^title +status +id\n/)
    expect(list.hidden?.()).toEqual(['updatedAt'])
    const wide = (await loadTable({ columns, chosen: false, width: 80, chalk })).list()
    wide.rows(rows)
    expect(wide.hidden?.()).toEqual([])
  })

  it('shows no empty column in the place of one that has values', async () => {
    const shown = named('title', 'bio', 'status', 'id')
    const list = (await loadTable({ columns: shown, chosen: false, width: 42, chalk })).list()
    expect(list.rows(rows)).toMatch(/^title +status\n/)
    expect(list.hidden?.()).toEqual(['bio', 'id'])
  })

  it('keeps the id that every row has, rather than one that some lack', async () => {
    const columns = named('title', 'status', 'externalId', 'id')
    const shown = async (externalId: string | null) => {
      const list = (await loadTable({ columns, chosen: false, width: 50, chalk })).list()
      list.rows(rows.map((row, index) => ({ ...row, externalId: index === 0 ? 'marine-101' : externalId })))
      return list.hidden?.()
    }
    expect(await shown('japanese-1')).toEqual(['id'])
    expect(await shown(null)).toEqual(['externalId'])
  })

  it('never cuts an id: in a narrow terminal the lines are longer', async () => {
    const id = 'crs_0123456789abcdef0123456789abcdef'
    const list = (await loadTable({ columns: named('title', 'id'), chosen: true, width: 30, chalk })).list()
    expect(list.rows([{ id, title: 'Marine biology' }])).toBe(`title     id\nMarine …  ${id}\n`)
    expect(list.rows([{ id: `${id}-2`, title: 'Logic' }])).toBe(`Logic     ${id}-2\n`)
  })

  it('shows paths as far as they say something, rather than a column more', async () => {
    const path = '/home/ada/.local/share/learnctl/academies/local.db'
    const columns = named('url', 'database', 'startedAt')
    const list = (await loadTable({ columns, chosen: false, width: 80, chalk })).list()
    const row = { url: 'http://127.0.0.1:8976', database: path, startedAt: '2026-03-01T10:20:30.400Z' }
    expect(list.rows([row])).toContain(`\nhttp://127.0.0.1:8976  ${path}\n`)
    expect(list.hidden?.()).toEqual(['startedAt'])
  })

  it('leaves out no column that was chosen', async () => {
    const [head] = await draw(60, true, named('updatedAt', 'status', 'title', 'id'))
    expect(head).toMatch(/^updatedAt +status +title +id$/)
  })

  it('shows instants to the minute', async () => {
    const list = (await loadTable({ columns: named('at', 'note'), chosen: false, width: 80, chalk })).list()
    const note = 'since 2026-03-01T10:20:30.400Z'
    expect(list.rows([{ at: '2026-03-01T10:20:30.400Z', note }])).toBe(
      `at                 note\n2026-03-01T10:20Z  ${note}\n`,
    )
  })

  it('shows control characters instead of obeying them', async () => {
    const shown = [{ path: 'title', label: 'ti\u001btle' }]
    const list = (await loadTable({ columns: shown, chosen: false, width: 80, chalk })).list()
    expect(list.rows([{ title: '\u001b[2Jgone' }])).toBe('ti\\x1btle\n\\x1b[2Jgone\n')
  })
})
