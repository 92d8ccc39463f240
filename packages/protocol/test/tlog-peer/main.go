// Another implementation of RFC 6962 trees and C2SP notes, that of the Go checksum database, as a peer of ours:
// `main make` prints vectors of its trees, proofs, tiles and notes, and `main check` verifies those that it reads.
//
// Debian has it: apt-get install golang-go golang-golang-x-mod-dev, then
// GO111MODULE=off GOPATH=/usr/share/gocode go run main.go make > ../../vectors/tlog-vectors.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type tree struct {
	Size int64
	Root []byte
}

type proof struct {
	Of, Size int64
	Hashes   [][]byte
}

type tile struct {
	Level  int
	Index  int64
	Hashes []byte
}

// vectors of the log whose entry n is the text "entry n".
type vectors struct {
	Trees         []tree
	Inclusions    []proof // Of is the index
	Consistencies []proof // Of is the older size
	Tiles         []tile
	Vkey, Note    string
}

const most = 70_000

var sizes = []int64{1, 2, 3, 7, 8, 255, 256, 257, 1000, 65_537, most}

func main() {
	var err error
	switch os.Args[1] {
	case "make":
		err = json.NewEncoder(os.Stdout).Encode(makeVectors())
	case "check":
		var given vectors
		if err = json.NewDecoder(os.Stdin).Decode(&given); err == nil {
			err = check(given)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func entry(index int64) []byte { return []byte(fmt.Sprintf("entry %d", index)) }

func makeVectors() (made vectors) {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for at, index := range indexes {
			hashes[at] = stored[index]
		}
		return hashes, nil
	})
	for index := int64(0); index < most; index++ {
		more, err := tlog.StoredHashes(index, entry(index), reader)
		must(err)
		stored = append(stored, more...)
	}
	for at, size := range sizes {
		root, err := tlog.TreeHash(size, reader)
		must(err)
		made.Trees = append(made.Trees, tree{size, root[:]})
		for _, index := range []int64{0, size / 3, size - 1} {
			hashes, err := tlog.ProveRecord(size, index, reader)
			must(err)
			made.Inclusions = append(made.Inclusions, proof{index, size, listOf(hashes)})
		}
		for _, older := range sizes[:at+1] {
			hashes, err := tlog.ProveTree(size, older, reader)
			must(err)
			made.Consistencies = append(made.Consistencies, proof{older, size, listOf(hashes)})
		}
	}
	for _, place := range []tlog.Tile{{H: 8, L: 0, N: 273, W: 112}, {H: 8, L: 1, N: 1, W: 17}, {H: 8, L: 2, N: 0, W: 1}} {
		data, err := tlog.ReadTileData(place, reader)
		must(err)
		made.Tiles = append(made.Tiles, tile{place.L, place.N, data})
	}
	secret, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)), "log.example/go")
	must(err)
	signer, err := note.NewSigner(secret)
	must(err)
	root := tlog.Hash(*(*[32]byte)(made.Trees[4].Root))
	text := fmt.Sprintf("log.example/go\n%d\n%s\n", made.Trees[4].Size, root)
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	must(err)
	made.Vkey, made.Note = public, string(signed)
	return made
}

func check(given vectors) error {
	roots := map[int64]tlog.Hash{}
	for _, each := range given.Trees {
		roots[each.Size] = hashOf(each.Root)
	}
	for _, each := range given.Inclusions {
		leaf := tlog.RecordHash(entry(each.Of))
		if err := tlog.CheckRecord(hashesOf(each.Hashes), each.Size, roots[each.Size], each.Of, leaf); err != nil {
			return fmt.Errorf("inclusion of %d in %d: %w", each.Of, each.Size, err)
		}
	}
	for _, each := range given.Consistencies {
		err := tlog.CheckTree(hashesOf(each.Hashes), each.Size, roots[each.Size], each.Of, roots[each.Of])
		if err != nil {
			return fmt.Errorf("consistency of %d in %d: %w", each.Of, each.Size, err)
		}
	}
	verifier, err := note.NewVerifier(given.Vkey)
	if err != nil {
		return err
	}
	opened, err := note.Open([]byte(given.Note), note.VerifierList(verifier))
	if err != nil {
		return err
	}
	fmt.Printf("%d trees, %d inclusions, %d consistencies, %d signatures\n",
		len(given.Trees), len(given.Inclusions), len(given.Consistencies), len(opened.Sigs))
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func hashOf(bytes []byte) (hash tlog.Hash) {
	copy(hash[:], bytes)
	return hash
}

func hashesOf(list [][]byte) (hashes []tlog.Hash) {
	for _, each := range list {
		hashes = append(hashes, hashOf(each))
	}
	return hashes
}

func listOf(hashes []tlog.Hash) [][]byte {
	list := make([][]byte, len(hashes))
	for at := range hashes {
		list[at] = append([]byte{}, hashes[at][:]...)
	}
	return list
}
