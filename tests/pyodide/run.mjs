// Run a Python program in Pyodide: node run.mjs PYODIDE_FOLDER NUMPY_WHEEL PACKAGES_FOLDER PROGRAM
// The program finds NumPy and the packages of the folder; what it prints goes to stdout.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, wheel, packages, program] = process.argv.slice(2);
try {
  const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
  const python = await loadPyodide({ indexURL: `${folder}/` });
  // Pyodide does not know node's Buffer, which is a kind of Uint8Array.
  python.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel");
  python.FS.mkdirTree("/packages");
  python.mountNodeFS("/packages", packages);
  python.runPython("import sys; sys.path.append('/packages')");
  python.runPython(readFileSync(program, "utf8"));
} catch (error) {
  console.error(error.message ?? error); // node would print a megabyte of Pyodide's source first
  process.exit(1);
}
