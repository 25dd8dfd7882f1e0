import { mkdirSync, writeFileSync } from 'node:fs'
import sbom from 'rollup-plugin-sbom'

/** The bill of materials, as the plugin's option types have it. */
type Bom = Parameters<NonNullable<NonNullable<Parameters<typeof sbom>[0]>['afterCollect']>>[0]

type Component = Bom['components'] extends Iterable<infer One> ? One : never

/**
 * Writes what a bundle contains: `sbom.cdx.json` (CycloneDX 1.7) into its folder, and the licences of its packages as
 * `dist/THIRD-PARTY-NOTICES.txt`. Both are the same in every build of the same lock file.
 */
export const inventory = sbom({
  outDir: '.',
  outFilename: 'sbom.cdx',
  includeWellKnown: false,
  saveTimestamp: false,
  collectLicenseEvidence: true,
  afterCollect: writeNotices,
})

function writeNotices(bom: Bom): void {
  const notices = [...bom.components]
    .map((component) => {
      const texts = [...(component.evidence?.licenses ?? [])].map(textOf)
      delete component.evidence
      const name = [component.group, component.name].filter(Boolean).join('/')
      return {
        name,
        notice: [`${name} ${component.version}`, ...(texts.length > 0 ? texts : [declared(component)])].join(
          '\n\n',
        ),
      }
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  mkdirSync('dist', { recursive: true })
  writeFileSync('dist/THIRD-PARTY-NOTICES.txt', notices.map(({ notice }) => notice).join(rule))
}

/** Returns the licence and the author of a package without a licence file, as its manifest declares them. */
function declared({ licenses, author, name }: Component): string {
  const ids = [...licenses].map((licence) => ('id' in licence ? licence.id : null))
  if (!author || ids.length === 0 || ids.includes(null))
    throw new Error(`${name} declares no licence or author`)
  return `Licence: ${ids.join(', ')}\nAuthor: ${author}`
}

const rule = `\n\n${'-'.repeat(79)}\n\n`

function textOf(licence: object): string {
  const { text } = licence as { readonly text?: { readonly content: string; readonly encoding?: string } }
  if (!text) throw new Error('a licence file without its text')
  const isBase64 = text.encoding === 'base64'
  return (isBase64 ? Buffer.from(text.content, 'base64').toString('utf8') : text.content).trim()
}
