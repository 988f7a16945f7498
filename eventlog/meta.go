package eventlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server"
)

// metaFiles are the files in which the embedded server keeps the configuration of a stream, and the checksum of the first.
var metaFiles = [2]string{server.JetStreamMetaFile, server.JetStreamMetaFileSum}

// metaSum returns the checksum of a configuration.
func metaSum(stream string, config []byte) []byte {
	key := sha256.Sum256([]byte(stream))
	hash, _ := highwayhash.NewDigest64(key[:]) // the key has the right length
	_, _ = hash.Write(config)                  // it never fails
	return hex.AppendEncode(nil, hash.Sum(nil))
}

// soundMeta reports whether a configuration belongs to the stream, and whether its checksum is valid.
func soundMeta(stream string, config, sum []byte) (isConfig, isSum bool) {
	var info server.FileStreamInfo
	err := json.Unmarshal(config, &info)
	return err == nil && info.Name == stream && info.Storage == server.FileStorage, string(metaSum(stream, config)) == string(sum)
}

// badMeta reports whether a stream with blocks lacks a valid configuration, without which the server does not open it.
func (d *dataDir) badMeta(stream string) (bad bool, config, sum []byte, err error) {
	if blocks, err := d.blocks(stream); err != nil || len(blocks) == 0 {
		return false, nil, nil, err
	}
	dir := d.streamDir(stream)
	config, configErr := os.ReadFile(filepath.Join(dir, metaFiles[0]))
	sum, sumErr := os.ReadFile(filepath.Join(dir, metaFiles[1]))
	for _, err := range []error{configErr, sumErr} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, nil, nil, err
		}
	}
	isConfig, isSum := soundMeta(stream, config, sum)
	return !isConfig || !isSum, config, sum, nil
}

// mendMeta recreates damaged or missing configurations of streams. Their blocks hold the events. A configuration with only a wrong checksum
// may differ in a value and is not used.
func (d *dataDir) mendMeta(o *Options) error {
	for _, want := range streamConfigs(o) {
		if _, ok := blockStreams[want.Name]; !ok {
			continue // it is recreated
		}
		bad, config, sum, err := d.badMeta(want.Name)
		if err != nil {
			return err
		}
		if !bad {
			continue
		}
		for i, data := range [][]byte{config, sum} {
			if err := d.putAside(want.Name+"-"+metaFiles[i], data, o); err != nil {
				return err
			}
		}
		fresh, err := json.Marshal(want)
		if err != nil {
			return err
		}
		info := server.FileStreamInfo{Created: o.Now().UTC()}
		if err := json.Unmarshal(fresh, &info.StreamConfig); err != nil {
			return err
		}
		if fresh, err = json.Marshal(info); err != nil {
			return err
		}
		dir := d.streamDir(want.Name)
		err = errors.Join(writeSynced(filepath.Join(dir, metaFiles[0]), fresh), writeSynced(filepath.Join(dir, metaFiles[1]), metaSum(want.Name, fresh)))
		if err != nil {
			return fmt.Errorf("eventlog: writing the configuration of stream %s again: %w", want.Name, err)
		}
		o.Logger.Error("eventlog: the configuration of a stream was damaged and is written again", "stream", want.Name)
	}
	return nil
}

// putAside keeps the content of a damaged file, if it has any.
func (d *dataDir) putAside(name string, data []byte, o *Options) error {
	aside := filepath.Join(d.path, damagedName)
	if err := os.MkdirAll(aside, 0o700); err != nil || len(data) == 0 {
		return err
	}
	return writeSynced(filepath.Join(aside, fmt.Sprintf("%s-%d", name, o.Now().UnixNano())), data)
}

// mendFormat recreates the format file if it is missing. The configuration of the log has the number too.
func (d *dataDir) mendFormat(o *Options) error {
	name := filepath.Join(d.path, formatName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := parseFormat(name, text); err == nil {
		return nil
	}
	if err := d.putAside(formatName, text, o); err != nil {
		return err
	}
	o.Logger.Error("eventlog: the file with the number of the format was damaged and is written again", "file", name)
	return writeSynced(name, []byte(strconv.Itoa(Format)+"\n"))
}

// badState counts the files that Open recreates.
func (d *dataDir) badState() (n int, err error) {
	name := filepath.Join(d.path, formatName)
	if text, err := os.ReadFile(name); err == nil {
		if _, err := parseFormat(name, text); err != nil {
			n++
		}
	}
	for stream := range blockStreams {
		bad, _, _, err := d.badMeta(stream)
		if err != nil {
			return n, err
		}
		if bad {
			n++
		}
	}
	return n, nil
}
